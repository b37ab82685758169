// Package score finds the numbers and words of a mail that may be its one-time
// code, and weighs what speaks for each and against it.
package score

import "fmt"

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

// Candidate is a number or word that was looked at, with the reasons for which
// it won or lost.
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
		if s.cs[k].score >= threshold && (best < 0 || s.cs[k].score > s.cs[best].score) {
			best = k
		}
	}
	return best
}

// candidates lists what was looked at.
func (s *scoring) candidates(win int) []Candidate {
	out := make([]Candidate, len(s.cs))
	for k := range s.cs {
		c := &s.cs[k]
		out[k] = Candidate{
			Value: s.p.value(c), Display: s.p.Shown(c.start, c.end), Where: s.p.Lines[c.line].Part.String(),
			Score: c.score, Reasons: c.reasons, Chosen: k == win,
		}
	}
	return out
}

func reason(n float64, why string) string { return fmt.Sprintf("%+.1f %s", n, why) }
