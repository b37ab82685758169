// Package score finds the numbers and words of a mail that may be its one-time
// code, and weighs what speaks for each and against it.
package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Kind says what a code is made of.
type Kind string

// The kinds of code (docs/spec/messages.md#codes).
const (
	Numeric      Kind = "numeric"      // digits alone
	Alphanumeric Kind = "alphanumeric" // letters, or letters and digits
	Phrase       Kind = "phrase"       // words, joined by hyphens or spaces
)

// Verdict is the code of a mail, or none: then all of it is empty.
type Verdict struct {
	Code       string // ready to paste
	Display    string // as the mail shows it
	Kind       Kind
	Confidence float64 // from 0 to 1
}

// Candidate is a number or word that was looked at, with the ten largest reasons for which
// it won or lost, the largest first. One with a veto has that for a reason, and no score.
type Candidate struct {
	Value, Display string
	Where          string // subject, preheader, text or html
	Score          float64
	Reasons        []string
	Chosen         bool
}

// Judge scores the candidates of a mail and picks the best. They are given, in
// the order of the mail, only if they are asked for.
func (p *Reading) Judge(explain bool) (v Verdict, all []Candidate) {
	p.findCandidates()
	s := scoring{p: p, cs: p.found, explain: explain}
	s.run()
	win := s.winner()
	if win < 0 {
		p.FindAll()
		win = s.phrase()
	}
	if win >= 0 {
		c := &s.cs[win]
		v = Verdict{Code: p.value(c), Display: p.Shown(c.start, c.end), Kind: c.kind, Confidence: confidence(c.score)}
	}
	if explain {
		all = s.candidates(win)
	}
	return v, all
}

// winner is the candidate with the best score, if that is enough.
func (s *scoring) winner() int {
	best := -1
	for k := range s.cs {
		if c := &s.cs[k]; c.veto == "" && c.score >= threshold && (best < 0 || c.score > s.cs[best].score) {
			best = k
		}
	}
	return best
}

// leading is the candidate with the best score so far, or -1.
func (s *scoring) leading() int {
	best := -1
	for k := range s.cs {
		if c := &s.cs[k]; c.veto == "" && (best < 0 || c.score > s.cs[best].score) {
			best = k
		}
	}
	return best
}

// isAheadOf reports whether a candidate's score is greater than another's by more than rounding.
func (c *candidate) isAheadOf(o *candidate) bool { return c.score > o.score+clearly }

// candidates lists what was looked at.
func (s *scoring) candidates(win int) []Candidate {
	out := make([]Candidate, len(s.cs))
	for k := range s.cs {
		c := &s.cs[k]
		out[k] = Candidate{Value: s.p.value(c), Display: s.p.Shown(c.start, c.end), Where: s.p.Lines[c.line].Part.String(), Chosen: k == win}
		if c.veto != "" {
			out[k].Reasons = []string{c.veto}
		} else {
			out[k].Score, out[k].Reasons = c.score, largest(c.reasons)
		}
	}
	return out
}

// A reason is what one feature gave to a candidate.
type reason struct {
	gave float64
	name string
}

// maxReasons is how many reasons an explanation names.
const maxReasons = 10

// largest names the reasons that gave or took most, and says what the others come to.
func largest(all []reason) (names []string) {
	slices.SortStableFunc(all, func(a, b reason) int { return cmp.Compare(math.Abs(b.gave), math.Abs(a.gave)) })
	var rest float64
	for i, r := range all {
		if i < maxReasons {
			names = append(names, fmt.Sprintf("%+.1f %s", r.gave, r.name))
		} else {
			rest += r.gave
		}
	}
	if n := len(all) - maxReasons; n > 0 {
		names = append(names, fmt.Sprintf("%+.1f of %d more", rest, n))
	}
	return names
}
