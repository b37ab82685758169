package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// findInstruction adds what an imperative gives: "enter 123456", "enter the code 123456".
func (s *scoring) findInstruction(k int) (done bool) {
	c := &s.cs[k]
	if c.lone && s.instructedAbove(c) {
		c.instructed = true
		s.add(c, toldAbove)
		return true
	}
	if c.lone && s.p.Lines[c.line].Part != page.InSubject && s.instructedBelow(c) {
		s.add(c, toldBelow)
		c.instructed = true
		return true
	}
	worth := toldWord.weight
	switch {
	case c.kind == Numeric && c.size != 7, c.mixed, c.shape == prefixedShape.weight:
		worth = toldNumber.weight
	case c.kind == Numeric:
		worth = toldSeven.weight
	}
	far := 2
	if s.tied(c) {
		far = 8
	}
	near := func(l nearWord) bool {
		m := &s.p.Marks[l.mark]
		if m.Class&lexicon.Where != 0 && l.gap.Words <= 4 {
			far = max(far, 5)
		}
		if l.gap.Words > far || l.gap.Sentences+l.gap.Hard > 0 || l.left && l.gap.Words > 1 && far < 8 && s.parted(m.End, c.start) || !l.left && s.nextClause(k, l) {
			return false
		}
		if m.Class&lexicon.Use != 0 && m.Class&lexicon.Code == 0 || s.leadsTo(c, l) {
			if l.left && l.gap.Words > 0 && l.mark == c.mark-1 && !s.unlabelled(c) && s.topic.silent() {
				worth += toldUnknown.weight // an unknown noun is what is to be entered
			}
			s.because(c, worth, "told to", m)
			if s.inSentence(k, lexicon.Auth, 7) {
				s.add(c, purpose)
			}
			done, c.instructed = true, true
			return false
		}
		if m.Class&(lexicon.Word|lexicon.Number) != 0 && l.gap.Words == 0 && s.worth(c, l, false) > 0 {
			far, worth = max(far, 4), toldWord.weight
		}
		return true
	}
	s.leftOf(k, anyClass, near)
	if !done {
		s.rightOf(k, anyClass, near)
	}
	return done
}

// nextClause says whether a comma parts a number from the verb right behind it, which then is about
// something else: “5200, use the spare one”, but not “1746, to be entered in the app”.
func (s *scoring) nextClause(k int, l nearWord) bool {
	c, m := &s.cs[k], &s.p.Marks[l.mark]
	return l.gap.Words == 0 && s.p.Kind[m.From]&page.Spaced != 0 && s.parted(c.end, m.Start) && !s.goesInto(k)
}

// instructedBelow says whether the line below a lone candidate asks to enter it:
// "Type this on the television."
func (s *scoring) instructedBelow(c *candidate) bool {
	if c.line+1 >= len(s.p.Lines) || s.p.Lines[c.line+1].Part != s.p.Lines[c.line].Part {
		return false
	}
	below := &s.p.Lines[c.line+1]
	for i := c.mark; i < len(s.p.Marks) && s.p.Marks[i].Start < below.End; i++ {
		if m := &s.p.Marks[i]; m.Class&lexicon.Use != 0 && m.Start >= below.Start && s.p.Span(below.Start, m.Start).Words < 6 {
			return true
		}
	}
	return false
}

// leadsTo says whether an aim and a colon stand right before the number: "to
// confirm: 123 456". A noun alone may be the label of a user name.
func (s *scoring) leadsTo(c *candidate, l nearWord) bool {
	m := &s.p.Marks[l.mark]
	return l.left && m.Class&lexicon.Auth != 0 && m.Class&named == 0 && l.gap.Words == 0 && c.shape >= 1 && s.tied(c) && s.p.Span(m.Start, m.End).Words > 1
}

// instructedAbove says whether the line above a lone candidate asks to enter it.
func (s *scoring) instructedAbove(c *candidate) bool {
	if c.line == 0 || s.p.Lines[c.line-1].Part != s.p.Lines[c.line].Part {
		return false
	}
	for i := c.mark - 1; i >= 0 && s.p.Marks[i].Start >= s.p.Lines[c.line-1].Start; i-- {
		if s.p.Marks[i].Class&lexicon.Use != 0 {
			return true
		}
	}
	return false
}
