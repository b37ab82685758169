package score

import (
	"unicode"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// An owner is the worst of the words that a number belongs to, so that it is no code.
type owner struct {
	kind ownerKind
	held bool // a name of a code is tied to the number or follows it: the owner says what the code is for
	mark lexicon.Mark
}

// An ownerKind says what owns a number, the later the worse.
type ownerKind uint8

const (
	unowned      ownerKind = iota
	bySign                 // “#482913”
	byFarNoun              // a noun five words before it or more
	byFarCode              // the name of another code, likewise
	byNounNearby           // a noun three or four words before it
	byNounBehind           // “482913 orders”
	byCodeNearby           // the name of another code, three or four words before it
	bySpent                // a word that says it is no longer good: “482913 has expired”
	byNoun                 // “order 482913”
	byUnit                 // “4829 points”
	byOtherCode            // “promo code 482913”
)

func (o *owner) note(kind ownerKind, m *lexicon.Mark) {
	if o.held || kind > o.kind {
		*o = owner{kind: kind, mark: *m}
	}
}

// isOwned reports whether a word owns the number, and no name of a code outweighs that.
func (o *owner) isOwned() bool { return o.kind != unowned && !o.held }

// isSpent reports whether a word says that the number is no longer good.
func (o *owner) isSpent() bool { return o.mark.Class&lexicon.Old != 0 }

// ownerOf finds the word that owns a number and makes it no code.
func (s *scoring) ownerOf(k int) owner {
	c := &s.cs[k]
	if c.veto != "" || s.boundToDomain(c) {
		return owner{}
	}
	o := s.ownerLeft(k)
	s.ownerBracket(c, &o)
	s.ownerRight(k, &o)
	s.ownerSpent(k, &o)
	if page.At(s.p.Low, c.start-1) == '#' {
		o.mustBe(bySign)
	}
	if s.isMergeRequest(c) || s.isTicket(k) || s.isRecipient(k) {
		o.mustBe(byNoun)
	}
	return o
}

// mustBe notes what owns a number where no word says so.
func (o *owner) mustBe(kind ownerKind) {
	if o.held || kind > o.kind {
		o.kind, o.held = kind, false
	}
}

// ownerLeft looks at the words before a candidate, as far as a word for a
// code. Where one stands there, or right behind the candidate, the noun in
// between says what the code is for, not what the number is.
func (s *scoring) ownerLeft(k int) (o owner) {
	c := &s.cs[k]
	tie := c.tie
	asked := s.instructedAbove(c)
	asked = asked || c.lone && s.instructedBelow(c)
	verb, named, after := false, s.namedAfter(k), s.hasOrderAfter(c)
	place := -1 // the mark of the place right before, where it is typed
	s.leftOf(k, anyClass, func(l nearWord) bool {
		m, g := &s.p.Marks[l.mark], l.gap
		tie = tie || m.Class&lexicon.Is != 0 && g.Words == 0
		verb = verb || m.Class&lexicon.Use != 0 && g.Words <= 2
		switch {
		case tie && m.Class&lexicon.Code != 0 && g.Words <= 14 && g.Sentences+g.Hard == 0:
			o.held = o.mark.Class&lexicon.Void == 0
			return false
		case tie && g.Words <= 14 && g.Sentences+g.Hard == 0 && (g.Words > 6 || g.figures > 0):
		case g.Sentences > 0 || g.Words > 6 || g.figures > 0 || g.Hard > 1 || g.Hard == 1 && !c.lone:
			return false
		case m.Class&lexicon.Code != 0 && tie || m.Class&(lexicon.Code|lexicon.Word) != 0 && !s.hasOwner(l.mark):
			o.held = tie && m.Class&lexicon.Code != 0 && o.mark.Class&lexicon.Void == 0
			return false
		case m.Class&lexicon.Code != 0 && g.Words == 0 && c.around.auth > 0: // "the guest login code 123456"
			return false
		case m.Class&lexicon.Once != 0 && g.Words <= 1 && g.Sentences == 0 && o.mark.Class&lexicon.Void == 0:
			return false
		case g.Soft+g.Hard > 0 && c.lone && (asked || !s.isLabel(l.mark)):
		case m.Class&lexicon.Old != 0 && g.Words <= 4 && (!s.hasSeparator(m.End, c.start) || s.countedBefore(c)):
			o.note(bySpent, m)
		case m.Class&lexicon.Where != 0 && g.Words == 0:
			place = l.mark
		case place == l.mark+1 && m.Class&lexicon.Not != 0 && s.p.Span(m.End, s.p.Marks[place].Start) == page.Gap{}: // "on the customers' page 123456 type"
		case after && g.Words >= 2 && m.Class&(lexicon.Not|lexicon.Void) != 0: // "on your telephone, to play, 123456 type"
		case verb && m.Class&lexicon.Not != 0: // "to link your phone, enter 123456"
		case m.Class&lexicon.For != 0 && c.start-m.End > 1: // "the code for your account is 123456"
		case m.Class&lexicon.Not != 0 && g.Words > 0 && s.otherClause(m.End, c.start): // "the card's holder agrees: type 123456"
		case s.p.IsBrand(l.mark), s.p.isCounter(l.mark), s.briefSecret(c, l):
		case m.Class&(lexicon.Not|lexicon.Void|lexicon.Never) != 0:
			o.note(beforeNumber(m, g), m)
		case m.Class&(lexicon.Number|lexicon.Word) == lexicon.Number && !named && !s.isRequested(l.mark, c):
			o.note(beforeNumber(m, g), m)
		}
		return true
	})
	if named && o.mark.End > 0 && s.p.Span(o.mark.End, c.start).Words > 0 {
		o.held = true
	}
	o.held = o.held && o.kind != unowned
	return o
}

// ownerRight looks at the words after a candidate: units, and nouns that
// follow at once.
func (s *scoring) ownerRight(k int, o *owner) {
	c := &s.cs[k]
	named := s.namedBefore(c)
	s.rightOf(k, anyClass, func(l nearWord) bool {
		m, g := &s.p.Marks[l.mark], l.gap
		switch {
		case m.Class&lexicon.Old != 0 && g == distance{} && s.hasBracketAfter(c.end, m.Start): // "482913 (expired)"
			o.note(bySpent, m)
			return false
		case g.Sentences > 0 || g.Words > 5 || g.figures > 0 || g.Hard > 0 || s.hasBracketAfter(c.end, m.Start):
			return false
		case m.Class&lexicon.Unit != 0 && g.Words == 0 && g.Soft == 0 && !s.hasSeparator(c.end, m.Start):
			o.note(byUnit, m)
		case m.Class&lexicon.Brief != 0: // in so many minutes it will have expired
			return false
		case m.Class&lexicon.Old != 0 && (!s.hasSeparator(c.end, m.Start) || g.Words == 0 && s.countedBefore(c)) && !(g.Soft > 0 && s.isLastOfLine(c)):
			o.note(bySpent, m)
		case m.Class&(lexicon.Code|lexicon.Word) != 0:
			return false
		case m.Class&lexicon.Void == 0 && s.hasOrderBefore(c):
			return false // the place it goes into
		case s.p.IsBrand(l.mark), m.Class&lexicon.For != 0: // "use 482913 for your account"
		case m.Class&(lexicon.Not|lexicon.Void) != 0 && g.Words <= 1 && g.Soft == 0 && !s.isTied(c) && (!named || s.hasSeparator(c.end, m.Start)): // not of "code 123456 for your order"
			o.note(byNounBehind, m)
		}
		return true
	})
}

// isRecipient reports whether a number is what a code is for or to whom it was sent: "the
// verification code for 482913 was sent to 7710".
func (s *scoring) isRecipient(k int) (yes bool) {
	const far = 10 // words
	c := &s.cs[k]
	if s.p.OwnerBehind(c.end) {
		m := s.markAfter(c)
		return m != nil && m.Class&(lexicon.Code|lexicon.Word) != 0 && m.Start-c.end <= 3
	}
	start, ok := s.p.AimBefore(c.start)
	if !ok || c.mark > 0 && s.p.Marks[c.mark-1].Class&lexicon.Is != 0 && s.p.Marks[c.mark-1].End > start { // Polish "to" is "is"
		return false
	}
	s.leftOf(k, lexicon.Code|lexicon.Word, func(l nearWord) bool {
		yes = s.p.Marks[l.mark].Start <= start && l.gap.Words <= far && l.gap.Sentences+l.gap.Hard == 0 && !s.clauseEnds(min(s.p.Marks[l.mark].End, c.start), c.start)
		return false
	})
	return yes
}

// isOwnedByNumber reports whether a word for a code is that of a number before it, which is no code
// itself: "482913 的验证码".
func (s *scoring) isOwnedByNumber(m int) bool {
	const far = 3 // runes
	start := s.p.Marks[m].Start
	for i := start - 1; i >= 0 && i >= start-far; i-- {
		if page.IsDigit(s.p.Low[i]) {
			return s.p.OwnerBehind(i + 1)
		}
	}
	return false
}

// hasOrderBefore reports whether an imperative and a word for a code stand right before a
// number, or the imperative alone in a mail about signing in. Then it is what is to
// be typed, and not what the noun after it has: "type 482913 on the customers' page".
func (s *scoring) hasOrderBefore(c *candidate) bool {
	for o := c.mark - 1; o >= 0 && o >= c.mark-2; o-- {
		m := &s.p.Marks[o]
		if g := s.p.Span(m.End, c.start); g.Words > 2 || g.Sentences+g.Hard > 0 {
			return false
		}
		switch {
		case m.Class&lexicon.Use != 0:
			return s.subject.auth || o < c.mark-1
		case m.Class&(lexicon.Code|lexicon.Word) == 0:
			return false
		}
	}
	return false
}

// hasOrderAfter reports the same of an imperative right behind it, in languages that
// put verbs last: "telefonunda oynamak için 482913 yaz".
func (s *scoring) hasOrderAfter(c *candidate) bool {
	if c.mark >= len(s.p.Marks) || s.isTied(c) {
		return false
	}
	m := &s.p.Marks[c.mark]
	g := s.p.Span(c.end, m.Start)
	return m.Start >= c.end && m.Class&lexicon.Use != 0 && g.Words+g.Sentences+g.Hard == 0
}

// otherClause reports whether a colon or semicolon ends the clause of a noun, and
// words follow it before the number.
func (s *scoring) otherClause(from, to int) bool {
	for i := to - 1; i >= from; i-- {
		if r := s.p.Low[i]; r == ':' || r == ';' {
			return s.p.Span(i, to).Words > 0
		}
	}
	return false
}

// isLastOfLine reports whether a candidate ends its line and the next one begins anew, as
// one that goes on in small letters does not.
func (s *scoring) isLastOfLine(c *candidate) bool {
	return page.At(s.p.Low, c.end) == page.SoftBreak && !unicode.IsLower(page.At(s.p.Raw, c.end+1))
}

// hasBracketAfter reports whether a bracket opens right after a number: what is in it is
// another thing.
func (s *scoring) hasBracketAfter(from, to int) bool {
	for _, r := range s.p.Low[from:min(to, from+2)] {
		if r == '(' || r == '[' {
			return true
		}
	}
	return false
}

// namedBefore reports whether a name of a code stands right before a candidate.
func (s *scoring) namedBefore(c *candidate) bool {
	o := c.mark - 1
	return o >= 0 && s.p.Marks[o].Class&(lexicon.Code|lexicon.Word) != 0 && s.p.Span(s.p.Marks[o].End, c.start) == page.Gap{} && !s.hasOwner(o)
}

// namedAfter reports whether a name of a code follows at once: "123456 kodunu".
func (s *scoring) namedAfter(k int) (yes bool) {
	c := &s.cs[k]
	s.rightOf(k, anyClass, func(l nearWord) bool {
		far := 0
		if s.p.Marks[l.mark].Class&lexicon.Code != 0 {
			far = 1 // "123456 als Bestätigungscode"
		}
		yes = s.p.Marks[l.mark].Class&(lexicon.Code|lexicon.Word) != 0 && l.gap.Words <= far && l.gap.Sentences+l.gap.Hard == 0 && (l.gap.Soft == 0 || c.lone) && !s.hasOwner(l.mark) && !s.hasSeparator(c.end, s.p.Marks[l.mark].Start)
		return false
	})
	return yes
}

// isLabel reports whether a noun is the label of the line below it: the line is
// short and names no code.
func (s *scoring) isLabel(m int) bool {
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

// beforeNumber says how a noun owns the number after it.
func beforeNumber(m *lexicon.Mark, g distance) ownerKind {
	other := m.Class&(lexicon.Void|lexicon.Never) != 0
	switch {
	case g.Words <= 2 && other:
		return byOtherCode
	case g.Words <= 2:
		return byNoun
	case g.Words <= 4 && other:
		return byCodeNearby
	case g.Words <= 4:
		return byNounNearby
	case other:
		return byFarCode
	}
	return byFarNoun
}

// ownerBracket notes that a number in brackets belongs to the word before it there:
// "your code for Fernhill (account 40028817)". A word for a code or an order to type
// it stands in no such brackets.
func (s *scoring) ownerBracket(c *candidate, o *owner) {
	const far = 32
	if page.At(s.p.Low, c.end) != ')' || s.isTied(c) {
		return
	}
	open := c.start - 1
	for open > c.start-far && open >= 0 && s.p.Low[open] != '(' && !s.p.isSegmentEnd(open) {
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
		o.note(byNoun, &lexicon.Mark{Start: open + 1, End: c.start - 1})
	}
}
