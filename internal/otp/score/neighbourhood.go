package score

import (
	"sort"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// What stands near a number says what it is, and what is far from it says nothing:
// a sign-in mail stays one with a digest, terms or any other text below. A line is near
// as a whole or not at all. What speaks for a code may stand a little further away than
// what speaks against it or names a topic.

// The sizes of neighbourhoods, in runes.
const (
	nearby  = 150 // on either side of a number
	beside  = 100 // on either side of its line, for a topic and for what speaks against it
	quarter = 64  // numbers that begin in the same quarter share a neighbourhood
)

// neighbourhood is what stands near a number: all of a mail that is short, and some of
// one part of a long one. The subject belongs to each.
type neighbourhood struct {
	all      bool
	part     page.Part
	from, to int

	closeFrom, closeTo int // where a topic counts, and what speaks against a number
}

// everything is the neighbourhood in a short mail.
func everything() neighbourhood { return neighbourhood{all: true} }

// neighbourhoodOf gives the neighbourhood of a candidate. That of one in the subject is
// where the text or the HTML begins.
func (p *Reading) neighbourhoodOf(c *candidate) neighbourhood {
	if len(p.Low) <= 2*nearby {
		return everything()
	}
	where, at := p.Lines[c.line].Part, c.start
	if where == page.InSubject {
		if where = page.InText; p.Bounds[page.InText][0] == p.Bounds[page.InText][1] {
			where = page.InHTML
		}
		at = p.Bounds[where][0]
	}
	b := p.Bounds[where]
	if b[1]-b[0] <= 2*nearby {
		return neighbourhood{part: where, from: b[0], to: b[1]}
	}
	line := c.line
	if p.Lines[line].Part == page.InSubject {
		line = p.LineAt(at)
	}
	at -= at % quarter
	t := neighbourhood{part: where}
	t.from, t.to = p.linesNear(line, at, nearby)
	t.closeFrom, t.closeTo = p.linesNear(line, at, beside)
	if c.start < b[0] && p.Lines[line].End > b[0]+beside {
		t.closeTo = t.closeFrom + 1 // the text begins with a long line, and the subject speaks for itself
	}
	return t
}

// linesNear gives the runes of a line, as far as they are near a place, and of the lines
// above and below of which no rune is further away from it than far.
func (p *Reading) linesNear(line, at, far int) (from, to int) {
	own := &p.Lines[line]
	from, to = max(own.Start, at-far), min(own.End, at+quarter+far)
	for i := line - 1; i >= 0 && p.Lines[i].Part == own.Part && p.Lines[i].Start >= own.Start-far; i-- {
		from = p.Lines[i].Start
	}
	for i := line + 1; i < len(p.Lines) && p.Lines[i].Part == own.Part && p.Lines[i].End <= own.End+far; i++ {
		to = p.Lines[i].End
	}
	return from, to
}

// has reports whether a place, on a line of some part, is in the neighbourhood.
func (t neighbourhood) has(i int, where page.Part) bool {
	return t.all || where == page.InSubject || where == t.part && i >= t.from && i < t.to
}

// isClose reports whether a topic, or what speaks against a number, counts at a place.
func (t neighbourhood) isClose(i int, where page.Part) bool {
	return t.all || where == page.InSubject || where == t.part && (t.closeTo == 0 || i >= t.closeFrom && i < t.closeTo)
}

// marksIn gives the first mark from i on that may be in a neighbourhood: those of the
// subject come first. Without one it gives the number of marks.
func (p *Reading) marksIn(t neighbourhood, i int) int {
	switch {
	case t.all || i == len(p.Marks) || p.Marks[i].Start < p.Bounds[page.InSubject][1]:
		return i
	case p.Marks[i].Start >= t.to:
		return len(p.Marks)
	case p.Marks[i].Start < t.from:
		return i + sort.Search(len(p.Marks)-i, func(n int) bool { return p.Marks[i+n].Start >= t.from })
	}
	return i
}

// holds reports whether a candidate is in the neighbourhood.
func (t neighbourhood) holds(p *Reading, c *candidate) bool {
	return t.has(c.start, p.Lines[c.line].Part)
}

// surroundings is what is known of a neighbourhood.
type surroundings struct {
	neighbourhood
	topic
	figures int  // numbers in it that belong to something else
	amount  bool // one of them has two decimals, as money has, or ends a card's number
}

// lookAround finds the surroundings of each candidate. Neighbours mostly share theirs.
func (s *scoring) lookAround() {
	all := s.p.around[:0]
	for k := range s.cs {
		c := &s.cs[k]
		if c.veto != "" {
			continue
		}
		near := s.p.neighbourhoodOf(c)
		if n := len(all); n == 0 || all[n-1].neighbourhood != near {
			all = append(all, surroundings{neighbourhood: near, topic: s.p.topicOf(near, s.subject)})
		}
		c.hood = len(all) - 1
	}
	s.p.around = all
	for k := range s.cs {
		if c := &s.cs[k]; c.veto == "" {
			c.around = &all[c.hood]
		}
	}
}

// candidatesIn gives the first candidate from k on that may be in the neighbourhood,
// as marksIn does for marks.
func (s *scoring) candidatesIn(t *neighbourhood, k int) int {
	switch {
	case t.all || k == len(s.cs) || s.cs[k].start < s.p.Bounds[page.InSubject][1]:
		return k
	case s.cs[k].start >= t.to:
		return len(s.cs)
	case s.cs[k].start < t.from:
		return k + sort.Search(len(s.cs)-k, func(n int) bool { return s.cs[k+n].start >= t.from })
	}
	return k
}

// countOthers counts the numbers of a neighbourhood that are something else.
func (s *scoring) countOthers(a *surroundings) {
	var figures page.Counts
	for k := s.candidatesIn(&a.neighbourhood, 0); k < len(s.cs); k = s.candidatesIn(&a.neighbourhood, k+1) {
		c := &s.cs[k]
		l := &s.p.Lines[c.line]
		if (c.veto != "" || c.owner.kind != unowned) && !l.InFoot(c.start) && a.holds(s.p, c) && a.isClose(c.start, l.Part) {
			figures[l.Part]++
			a.amount = a.amount || c.veto == aFigure && s.p.isAmount(c) || c.veto == aCard
		}
	}
	a.figures = figures.Seen()
}
