package score

import (
	"unicode"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// ownership is the worst word found against a candidate.
type ownership struct {
	loss float64
	mark lexicon.Mark
}

func (o *ownership) note(n float64, m *lexicon.Mark) {
	if n < o.loss {
		o.loss, o.mark = n, *m
	}
}

// findOwner finds the words that own a number and make it no code.
func (s *scoring) findOwner(k int) {
	c := &s.cs[k]
	if c.veto != "" || s.boundToDomain(c) {
		return
	}
	o := s.ownerLeft(k)
	s.ownerBracket(c, &o)
	s.ownerRight(k, &o)
	s.ownerSpent(k, &o)
	c.against, c.old = o.loss, o.mark.Class&lexicon.Old != 0
	if page.At(s.p.Low, c.start-1) == '#' {
		c.against = min(c.against, numberSign.weight)
	}
	if s.request(c) || s.ticket(k) {
		c.against = min(c.against, lossNot.weight)
	}
	if c.against < 0 && s.explain && o.mark.End > 0 {
		c.reasons = append(c.reasons, "it belongs to “"+s.p.Shown(o.mark.Start, o.mark.End)+"”")
	}
}

// ownerLeft looks at the words before a candidate, as far as a word for a
// code. Where one stands there, or right behind the candidate, the noun in
// between says what the code is for, not what the number is.
func (s *scoring) ownerLeft(k int) (o ownership) {
	c := &s.cs[k]
	held := float64(0)
	tie := c.tie
	asked := s.instructedAbove(c)
	asked = asked || c.lone && s.instructedBelow(c)
	verb, named, after := false, s.namedAfter(k), s.orderedAfter(c)
	place := -1 // the mark of the place right before, where it is typed
	s.leftOf(k, anyClass, func(l nearWord) bool {
		m, g := &s.p.Marks[l.mark], l.gap
		tie = tie || m.Class&lexicon.Is != 0 && g.Words == 0
		verb = verb || m.Class&lexicon.Use != 0 && g.Words <= 2
		switch {
		case tie && m.Class&lexicon.Code != 0 && g.Words <= 14 && g.Sentences+g.Hard == 0:
			if o.mark.Class&lexicon.Void == 0 {
				held = -ownerHeld.weight * o.loss
			}
			return false
		case tie && g.Words <= 14 && g.Sentences+g.Hard == 0 && (g.Words > 6 || g.figures > 0):
		case g.Sentences > 0 || g.Words > 6 || g.figures > 0 || g.Hard > 1 || g.Hard == 1 && !c.lone:
			return false
		case m.Class&lexicon.Code != 0 && tie || m.Class&(lexicon.Code|lexicon.Word) != 0 && !s.owned(l.mark):
			if tie && m.Class&lexicon.Code != 0 && o.mark.Class&lexicon.Void == 0 {
				held = -ownerHeld.weight * o.loss
			}
			return false
		case m.Class&lexicon.Code != 0 && g.Words == 0 && s.topic.auth > 0: // "the guest login code 123456"
			return false
		case m.Class&lexicon.Once != 0 && g.Words <= 1 && g.Sentences == 0 && o.mark.Class&lexicon.Void == 0:
			return false
		case g.Soft+g.Hard > 0 && c.lone && (asked || !s.label(l.mark)):
		case m.Class&lexicon.Old != 0 && g.Words <= 4 && !s.parted(m.End, c.start):
			o.note(oldWord.weight, m)
		case m.Class&lexicon.Where != 0 && g.Words == 0:
			place = l.mark
		case place == l.mark+1 && m.Class&lexicon.Not != 0 && s.p.Span(m.End, s.p.Marks[place].Start) == page.Gap{}: // "on the customers' page 123456 type"
		case after && g.Words >= 2 && m.Class&(lexicon.Not|lexicon.Void) != 0: // "on your telephone, to play, 123456 type"
		case verb && m.Class&lexicon.Not != 0: // "to link your phone, enter 123456"
		case m.Class&lexicon.For != 0 && c.start-m.End > 1: // "the code for your account is 123456"
		case m.Class&lexicon.Not != 0 && g.Words > 0 && s.otherClause(m.End, c.start): // "the card's holder agrees: type 123456"
		case s.p.Brand(l.mark):
		case m.Class&(lexicon.Not|lexicon.Void|lexicon.Never) != 0:
			o.note(nearness(m, g), m)
		case m.Class&(lexicon.Number|lexicon.Word) == lexicon.Number && !named && !s.asked(l.mark, c):
			o.note(nearness(m, g), m)
		}
		return true
	})
	if named && o.mark.End > 0 && s.p.Span(o.mark.End, c.start).Words > 0 {
		held = max(held, -ownerHeld.weight*o.loss)
	}
	o.loss += held
	return o
}

// ownerRight looks at the words after a candidate: units, and nouns that
// follow at once.
func (s *scoring) ownerRight(k int, o *ownership) {
	c := &s.cs[k]
	named := s.namedBefore(c)
	s.rightOf(k, anyClass, func(l nearWord) bool {
		m, g := &s.p.Marks[l.mark], l.gap
		switch {
		case g.Sentences > 0 || g.Words > 5 || g.figures > 0 || g.Hard > 0 || s.bracketed(c.end, m.Start):
			return false
		case m.Class&lexicon.Unit != 0 && g.Words == 0 && g.Soft == 0 && !s.parted(c.end, m.Start):
			o.note(unitAfter.weight, m)
		case m.Class&lexicon.Brief != 0: // in so many minutes it will have expired
			return false
		case m.Class&lexicon.Old != 0 && !s.parted(c.end, m.Start) && !(g.Soft > 0 && s.fresh(c)):
			o.note(oldWord.weight, m)
		case m.Class&(lexicon.Code|lexicon.Word) != 0:
			return false
		case m.Class&lexicon.Void == 0 && s.ordered(c):
			return false // the place it goes into
		case s.p.Brand(l.mark), m.Class&lexicon.For != 0: // "use 482913 for your account"
		case m.Class&(lexicon.Not|lexicon.Void) != 0 && g.Words <= 1 && g.Soft == 0 && !s.tied(c) && (!named || s.parted(c.end, m.Start)): // not of "code 123456 for your order"
			o.note(nounAfter.weight, m)
		}
		return true
	})
}

// ordered says whether an imperative and a word for a code stand right before a
// number, or the imperative alone in a mail about signing in. Then it is what is to
// be typed, and not what the noun after it has: "type 482913 on the customers' page".
func (s *scoring) ordered(c *candidate) bool {
	for o := c.mark - 1; o >= 0 && o >= c.mark-2; o-- {
		m := &s.p.Marks[o]
		if g := s.p.Span(m.End, c.start); g.Words > 2 || g.Sentences+g.Hard > 0 {
			return false
		}
		switch {
		case m.Class&lexicon.Use != 0:
			return s.topic.subjectAuth || o < c.mark-1
		case m.Class&(lexicon.Code|lexicon.Word) == 0:
			return false
		}
	}
	return false
}

// orderedAfter says the same of an imperative right behind it, in languages that
// put verbs last: "telefonunda oynamak için 482913 yaz".
func (s *scoring) orderedAfter(c *candidate) bool {
	if c.mark >= len(s.p.Marks) || s.tied(c) {
		return false
	}
	m := &s.p.Marks[c.mark]
	g := s.p.Span(c.end, m.Start)
	return m.Start >= c.end && m.Class&lexicon.Use != 0 && g.Words+g.Sentences+g.Hard == 0
}

// otherClause says whether a colon or semicolon ends the clause of a noun, and
// words follow it before the number.
func (s *scoring) otherClause(from, to int) bool {
	for i := to - 1; i >= from; i-- {
		if r := s.p.Low[i]; r == ':' || r == ';' {
			return s.p.Span(i, to).Words > 0
		}
	}
	return false
}

// fresh says whether a candidate ends its line and the next one begins anew, as
// one that goes on in small letters does not.
func (s *scoring) fresh(c *candidate) bool {
	return page.At(s.p.Low, c.end) == page.SoftBreak && !unicode.IsLower(page.At(s.p.Raw, c.end+1))
}

// bracketed says whether a bracket opens right after a number: what is in it is
// another thing.
func (s *scoring) bracketed(from, to int) bool {
	for _, r := range s.p.Low[from:min(to, from+2)] {
		if r == '(' || r == '[' {
			return true
		}
	}
	return false
}

// namedBefore says whether a name of a code stands right before a candidate.
func (s *scoring) namedBefore(c *candidate) bool {
	o := c.mark - 1
	return o >= 0 && s.p.Marks[o].Class&(lexicon.Code|lexicon.Word) != 0 && s.p.Span(s.p.Marks[o].End, c.start) == page.Gap{} && !s.owned(o)
}

// namedAfter says whether a name of a code follows at once: "123456 kodunu".
func (s *scoring) namedAfter(k int) (yes bool) {
	c := &s.cs[k]
	s.rightOf(k, anyClass, func(l nearWord) bool {
		far := 0
		if s.p.Marks[l.mark].Class&lexicon.Code != 0 {
			far = 1 // "123456 als Bestätigungscode"
		}
		yes = s.p.Marks[l.mark].Class&(lexicon.Code|lexicon.Word) != 0 && l.gap.Words <= far && l.gap.Sentences+l.gap.Hard == 0 && (l.gap.Soft == 0 || c.lone) && !s.owned(l.mark) && !s.parted(c.end, s.p.Marks[l.mark].Start)
		return false
	})
	return yes
}

// label says whether a noun is the label of the line below it: the line is
// short and names no code.
func (s *scoring) label(m int) bool {
	marks := s.p.Marks
	l := &s.p.Lines[marks[m].Line]
	if l.End-l.Start > maxLabel {
		return false
	}
	for m > 0 && marks[m-1].Start >= l.Start {
		m--
	}
	for ; m < len(marks) && marks[m].Start < l.End; m++ {
		if marks[m].Class&(lexicon.Code|lexicon.Word) != 0 {
			return false
		}
	}
	return true
}

// maxLabel is how long a label may be, in runes.
const maxLabel = 32

// nearness is what a noun takes from the number after it.
func nearness(m *lexicon.Mark, g distance) float64 {
	full := lossNot.weight
	if m.Class&(lexicon.Void|lexicon.Never) != 0 {
		full = lossVoid.weight
	}
	switch {
	case g.Words <= 2:
		return full
	case g.Words <= 4:
		return full / 2
	}
	return full / 4
}

// ownerBracket notes that a number in brackets belongs to the word before it there:
// "your code for Fernhill (account 40028817)". A word for a code or an order to type
// it stands in no such brackets.
func (s *scoring) ownerBracket(c *candidate, o *ownership) {
	const far = 32
	if page.At(s.p.Low, c.end) != ')' || s.tied(c) {
		return
	}
	open := c.start - 1
	for open > c.start-far && open >= 0 && s.p.Low[open] != '(' && !s.p.parting(open) {
		open--
	}
	if page.At(s.p.Low, open) != '(' {
		return
	}
	for i := c.mark - 1; i >= 0 && s.p.Marks[i].Start > open; i-- {
		if s.p.Marks[i].Class&(named|lexicon.Use) != 0 {
			return
		}
	}
	if s.p.Span(open, c.start).Words > 0 {
		o.note(lossNot.weight, &lexicon.Mark{Start: open + 1, End: c.start - 1})
	}
}
