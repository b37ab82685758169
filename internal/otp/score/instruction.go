package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// An order asks to enter a number.
type order struct {
	given   orderPlace
	mark    int  // of the imperative beside the number
	weak    bool // a word that may name a code stands between them
	unknown bool // an unknown noun does, in a mail silent about signing in, and is what is to be entered
	aimed   bool // it is in order to sign in
}

// An orderPlace is where an order stands.
type orderPlace uint8

const (
	notGiven orderPlace = iota
	inLineAbove
	inLineBelow
	besideNumber
)

// isTold reports whether an order asks to enter the candidate.
func (c *candidate) isTold() bool { return c.order.given != notGiven }

// orderOf finds the imperative that asks to enter a candidate: "enter 123456", "enter the code 123456".
func (s *scoring) orderOf(k int) (o order) {
	c := &s.cs[k]
	if c.lone && s.instructedAbove(c) {
		return order{given: inLineAbove}
	}
	if c.lone && s.p.Lines[c.line].Part != page.InSubject && s.instructedBelow(c) {
		return order{given: inLineBelow}
	}
	far := 2
	if s.isTied(c) {
		far = 8
	}
	near := func(l nearWord) bool {
		m := &s.p.Marks[l.mark]
		if m.Class&lexicon.Where != 0 && l.gap.Words <= 4 {
			far = max(far, 5)
		}
		if l.gap.Words > far || l.gap.Sentences+l.gap.Hard > 0 || l.left && l.gap.Words > 1 && far < 8 && s.hasSeparator(m.End, c.start) || !l.left && s.nextClause(k, l) {
			return false
		}
		if m.Class&lexicon.Use != 0 && m.Class&lexicon.Code == 0 || s.leadsTo(c, l) {
			o.given, o.mark = besideNumber, l.mark
			o.unknown = l.left && l.gap.Words > 0 && l.mark == c.mark-1 && !s.hasNoLabel(c) && c.around.isSilent()
			o.aimed = s.inSentence(k, lexicon.Auth, 7)
			return false
		}
		if m.Class&(lexicon.Word|lexicon.Number) != 0 && l.gap.Words == 0 && s.closenessOf(c, l, false) > 0 {
			far, o.weak = max(far, 4), true
		}
		return true
	}
	if s.leftOf(k, anyClass, near); o.given == notGiven {
		s.rightOf(k, anyClass, near)
	}
	return o
}

// nextClause reports whether a comma parts a number from the verb right behind it, which then is about
// something else: “5200, use the spare one”, but not “1746, to be entered in the app”.
func (s *scoring) nextClause(k int, l nearWord) bool {
	c, m := &s.cs[k], &s.p.Marks[l.mark]
	return l.gap.Words == 0 && s.p.Kind[m.From]&page.Spaced != 0 && s.hasSeparator(c.end, m.Start) && !s.goesInto(k)
}

// instructedBelow reports whether the line below a lone candidate asks to enter it:
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

// leadsTo reports whether an aim and a colon stand right before the number: "to
// confirm: 123 456". A noun alone may be the label of a user name.
func (s *scoring) leadsTo(c *candidate, l nearWord) bool {
	m := &s.p.Marks[l.mark]
	return l.left && m.Class&lexicon.Auth != 0 && m.Class&named == 0 && l.gap.Words == 0 && c.likeness() == typical && s.isTied(c) && s.p.Span(m.Start, m.End).Words > 1
}

// instructedAbove reports whether the line above a lone candidate asks to enter it.
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
