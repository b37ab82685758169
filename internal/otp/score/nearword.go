package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// reach is how far, in runes, a word may stand from its number.
const reach = 240

// distance is what lies between a number and a word.
type distance struct {
	page.Gap
	numbers int // that could take the word for their own
	figures int // of any sort
}

// anyClass lists every mark.
const anyClass = ^lexicon.Class(0)

// nearWord is one word near a number.
type nearWord struct {
	mark int
	gap  distance
	left bool
}

// findPhrases finds the phrases as far as one may say something of the last candidate.
// What is near a candidate in the subject begins with the first line of the text.
func (s *scoring) findPhrases() {
	for k := len(s.cs) - 1; k >= 0; k-- {
		if c := &s.cs[k]; c.veto == "" {
			l := &s.p.Lines[s.p.LineAt(c.start)]
			if l.Part == page.InSubject {
				l = &s.p.Lines[s.p.LineAt(l.End+1)]
			}
			s.p.Find(l.End + reach + page.MaxWord)
			return
		}
	}
}

// locate notes for each candidate the line it is on, the part, the first mark
// after it, and whether it is tied to what stands before it.
func (s *scoring) locate() {
	s.findPhrases()
	s.p.ResetCounts()
	line, m, spans := 0, 0, 0
	for k := range s.cs {
		c := &s.cs[k]
		for line < len(s.p.Lines)-1 && s.p.Lines[line].End <= c.start {
			line++
		}
		for m < len(s.p.Marks) && s.p.Marks[m].Start < c.start {
			m++
		}
		for spans < len(s.p.Spans) && s.p.Spans[spans].Start <= c.start {
			spans++
		}
		c.line, c.mark, c.spans = line, m, spans
		c.tie = c.veto == "" && (s.isTied(c) || s.isAfter(k))
	}
}

// partBounds are the runes of the part of the mail that a candidate is in. A
// subject that is but a number goes on in the text.
func (s *scoring) partBounds(c *candidate) (from, to int) {
	where := s.p.Lines[c.line].Part
	b := s.p.Bounds[where]
	if where == page.InSubject && c.lone {
		return b[0], len(s.p.Low)
	}
	return b[0], b[1]
}

// leftOf lists the marks of some classes before a candidate, nearest first.
func (s *scoring) leftOf(k int, some lexicon.Class, yield func(nearWord) bool) {
	c := &s.cs[k]
	from, _ := s.partBounds(c)
	from = max(from, c.start-reach)
	prev, figures, numbers := k-1, 0, 0
	for i := c.mark - 1; i >= 0; i-- {
		s.p.Steps++
		m := &s.p.Marks[i]
		if m.Start < from {
			return
		}
		if m.Class&some == 0 {
			continue
		}
		for prev >= 0 && s.cs[prev].start >= m.End {
			figures++
			if s.isRival(&s.cs[prev], c) {
				numbers++
			}
			prev--
		}
		g := distance{Gap: s.p.Span(m.End, c.start), figures: figures, numbers: numbers}
		if !yield(nearWord{mark: i, gap: g, left: true}) {
			return
		}
	}
}

// rightOf lists those after it, nearest first.
func (s *scoring) rightOf(k int, some lexicon.Class, yield func(nearWord) bool) {
	c := &s.cs[k]
	_, to := s.partBounds(c)
	to = min(to, c.end+reach)
	next, figures, numbers := k+1, 0, 0
	for i := c.mark; i < len(s.p.Marks); i++ {
		s.p.Steps++
		m := &s.p.Marks[i]
		if m.Start >= to {
			return
		}
		if m.Start < c.end || m.Class&some == 0 {
			continue
		}
		for next < len(s.cs) && s.cs[next].start < m.Start {
			figures++
			if s.isRival(&s.cs[next], c) {
				numbers++
			}
			next++
		}
		g := distance{Gap: s.p.Span(c.end, m.Start), figures: figures, numbers: numbers}
		if !yield(nearWord{mark: i, gap: g}) {
			return
		}
	}
}

// markAfter is the first of those, or nil. Most are of no class that is wanted, and how
// far away they are need not be counted then.
func (s *scoring) markAfter(c *candidate) *lexicon.Mark {
	_, to := s.partBounds(c)
	for i := c.mark; i < len(s.p.Marks) && s.p.Marks[i].Start < min(to, c.end+reach); i++ {
		s.p.Steps++
		if s.p.Marks[i].Start >= c.end {
			return &s.p.Marks[i]
		}
	}
	return nil
}

// isSurelyOwned reports whether what owns a candidate is right beside it.
func (c *candidate) isSurelyOwned() bool { return c.owner.isOwned() && c.owner.kind >= bySpent }

// isRival reports whether a number could take the words beyond it for its own.
func (s *scoring) isRival(o, c *candidate) bool {
	if o.kind == Alphanumeric && (!o.upper || o.letters && s.p.Lines[o.line].Part != page.InSubject && !o.tie) && !o.lone {
		return false // a name, more likely
	}
	return o.veto == "" && !o.pointed && !o.isSurelyOwned() && (o.kind == Numeric || o.kind == c.kind || !o.letters)
}
