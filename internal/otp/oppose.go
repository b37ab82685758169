package otp

import "unicode"

// opposition is the worst word found against a candidate.
type opposition struct {
	loss float64
	mark mark
}

func (o *opposition) note(n float64, m *mark) {
	if n < o.loss {
		o.loss, o.mark = n, *m
	}
}

// oppose finds the words that own a number and make it no code.
func (s *scoring) oppose(k int) {
	c := &s.cs[k]
	if c.veto != "" || s.domainBound(c) {
		return
	}
	o := s.opposeLeft(k)
	s.opposeBracket(c, &o)
	s.opposeRight(k, &o)
	s.opposeSpent(k, &o)
	c.against, c.old = o.loss, o.mark.class&classOld != 0
	if at(s.p.low, c.start-1) == '#' {
		c.against = min(c.against, -1.5)
	}
	if c.against < 0 && s.explain && o.mark.end > 0 {
		c.reasons = append(c.reasons, "it belongs to “"+s.p.text(o.mark.start, o.mark.end)+"”")
	}
}

// opposeLeft looks at the words before a candidate, as far as a word for a
// code. Where one stands there, or right behind the candidate, the noun in
// between says what the code is for, not what the number is.
func (s *scoring) opposeLeft(k int) (o opposition) {
	c := &s.cs[k]
	held := 0.0
	tie := c.tie
	asked, _ := s.toldAbove(c)
	asked = asked || c.lone && s.toldBelow(c)
	verb, named, after := false, s.namedAfter(k), s.orderedAfter(c)
	place := -1 // the mark of the place right before, where it is typed
	s.leftOf(k, func(l look) bool {
		m, g := &s.p.marks[l.mark], l.gap
		tie = tie || m.class&classIs != 0 && g.words == 0
		verb = verb || m.class&classUse != 0 && g.words == 0
		switch {
		case tie && m.class&classCode != 0 && g.words <= 14 && g.sentences+g.hard == 0:
			if o.mark.class&classVoid == 0 {
				held = -0.9 * o.loss
			}
			return false
		case tie && g.words <= 14 && g.sentences+g.hard == 0 && (g.words > 6 || g.figures > 0):
		case g.sentences > 0 || g.words > 6 || g.figures > 0 || g.hard > 1 || g.hard == 1 && !c.lone:
			return false
		case m.class&classCode != 0 && tie || m.class&(classCode|classWord) != 0 && !s.owned(l.mark):
			if tie && m.class&classCode != 0 && o.mark.class&classVoid == 0 {
				held = -0.9 * o.loss
			}
			return false
		case m.class&classOnce != 0 && g.words <= 1 && g.sentences == 0 && o.mark.class&classVoid == 0:
			return false
		case g.soft+g.hard > 0 && c.lone && (asked || !s.label(l.mark)):
		case m.class&classOld != 0 && g.words <= 4 && !s.parted(m.end, c.start):
			o.note(-5, m)
		case m.class&classWhere != 0 && g.words == 0:
			place = l.mark
		case place == l.mark+1 && m.class&classNot != 0 && s.p.span(m.end, s.p.marks[place].start) == gap{}: // "on the customers' page 123456 type"
		case after && g.words >= 2 && m.class&(classNot|classVoid) != 0: // "on your telephone, to play, 123456 type"
		case verb && m.class&classNot != 0: // "to link your phone, enter 123456"
		case m.class&classNot != 0 && g.words > 0 && s.otherClause(m.end, c.start): // "the card's holder agrees: type 123456"
		case s.p.brand(l.mark):
		case m.class&(classNot|classVoid|classNever) != 0:
			o.note(nearness(m, g), m)
		case m.class&(classNumber|classWord) == classNumber && !named && !s.asked(l.mark, c):
			o.note(nearness(m, g), m)
		}
		return true
	})
	if named && o.mark.end > 0 && s.p.span(o.mark.end, c.start).words > 0 {
		held = max(held, -0.9*o.loss)
	}
	o.loss += held
	return o
}

// opposeRight looks at the words after a candidate: units, and nouns that
// follow at once.
func (s *scoring) opposeRight(k int, o *opposition) {
	c := &s.cs[k]
	named := s.namedBefore(c)
	s.rightOf(k, func(l look) bool {
		m, g := &s.p.marks[l.mark], l.gap
		switch {
		case g.sentences > 0 || g.words > 5 || g.figures > 0 || g.hard > 0 || s.bracketed(c.end, m.start):
			return false
		case m.class&classUnit != 0 && g.words == 0 && g.soft == 0 && !s.parted(c.end, m.start):
			o.note(-7, m)
		case m.class&classBrief != 0: // in so many minutes it will have expired
			return false
		case m.class&classOld != 0 && !s.parted(c.end, m.start) && !(g.soft > 0 && s.fresh(c)):
			o.note(-5, m)
		case m.class&(classCode|classWord) != 0:
			return false
		case m.class&classVoid == 0 && s.ordered(c):
			return false // the place it goes into
		case s.p.brand(l.mark):
		case m.class&(classNot|classVoid) != 0 && g.words <= 1 && g.soft == 0 && !s.tied(c) && (!named || s.parted(c.end, m.start)): // not of "code 123456 for your order"
			o.note(-3.5, m)
		}
		return true
	})
}

// ordered says whether an imperative and a word for a code stand right before a
// number, or the imperative alone in a mail about signing in. Then it is what is to
// be typed, and not what the noun after it has: "type 482913 on the customers' page".
func (s *scoring) ordered(c *candidate) bool {
	for o := c.mark - 1; o >= 0 && o >= c.mark-2; o-- {
		m := &s.p.marks[o]
		if g := s.p.span(m.end, c.start); g.words > 2 || g.sentences+g.hard > 0 {
			return false
		}
		switch {
		case m.class&classUse != 0:
			return s.mood.subjectAuth || o < c.mark-1
		case m.class&(classCode|classWord) == 0:
			return false
		}
	}
	return false
}

// orderedAfter says the same of an imperative right behind it, in languages that
// put verbs last: "telefonunda oynamak için 482913 yaz".
func (s *scoring) orderedAfter(c *candidate) bool {
	if c.mark >= len(s.p.marks) || s.tied(c) {
		return false
	}
	m := &s.p.marks[c.mark]
	g := s.p.span(c.end, m.start)
	return m.start >= c.end && m.class&classUse != 0 && g.words+g.sentences+g.hard == 0
}

// otherClause says whether a colon or semicolon ends the clause of a noun, and
// words follow it before the number.
func (s *scoring) otherClause(from, to int) bool {
	for i := to - 1; i >= from; i-- {
		if r := s.p.low[i]; r == ':' || r == ';' {
			return s.p.span(i, to).words > 0
		}
	}
	return false
}

// fresh says whether a candidate ends its line and the next one begins anew, as
// one that goes on in small letters does not.
func (s *scoring) fresh(c *candidate) bool {
	return at(s.p.low, c.end) == softBreak && !unicode.IsLower(at(s.p.raw, c.end+1))
}

// bracketed says whether a bracket opens right after a number: what is in it is
// another thing.
func (s *scoring) bracketed(from, to int) bool {
	for _, r := range s.p.low[from:min(to, from+2)] {
		if r == '(' || r == '[' {
			return true
		}
	}
	return false
}

// namedBefore says whether a name of a code stands right before a candidate.
func (s *scoring) namedBefore(c *candidate) bool {
	o := c.mark - 1
	return o >= 0 && s.p.marks[o].class&(classCode|classWord) != 0 && s.p.span(s.p.marks[o].end, c.start) == gap{} && !s.owned(o)
}

// namedAfter says whether a name of a code follows at once: "123456 kodunu".
func (s *scoring) namedAfter(k int) (yes bool) {
	c := &s.cs[k]
	s.rightOf(k, func(l look) bool {
		far := 0
		if s.p.marks[l.mark].class&classCode != 0 {
			far = 1 // "123456 als Bestätigungscode"
		}
		yes = s.p.marks[l.mark].class&(classCode|classWord) != 0 && l.gap.words <= far && l.gap.sentences+l.gap.hard == 0 && (l.gap.soft == 0 || c.lone) && !s.owned(l.mark) && !s.parted(c.end, s.p.marks[l.mark].start)
		return false
	})
	return yes
}

// label says whether a noun is the label of the line below it: the line is
// short and names no code.
func (s *scoring) label(m int) bool {
	marks := s.p.marks
	l := &s.p.lines[s.p.lineAt(marks[m].start)]
	if l.end-l.start > maxLabel {
		return false
	}
	for m > 0 && marks[m-1].start >= l.start {
		m--
	}
	for ; m < len(marks) && marks[m].start < l.end; m++ {
		if marks[m].class&(classCode|classWord) != 0 {
			return false
		}
	}
	return true
}

// maxLabel is how long a label may be, in runes.
const maxLabel = 32

// nearness is what a noun takes from the number after it.
func nearness(m *mark, g gap) float64 {
	full := lossNot
	if m.class&(classVoid|classNever) != 0 {
		full = lossVoid
	}
	switch {
	case g.words <= 2:
		return full
	case g.words <= 4:
		return full / 2
	}
	return full / 4
}

// opposeBracket notes that a number in brackets belongs to the word before it there:
// "your code for Fernhill (account 40028817)". A word for a code or an order to type
// it stands in no such brackets.
func (s *scoring) opposeBracket(c *candidate, o *opposition) {
	const far = 32
	if at(s.p.low, c.end) != ')' || s.tied(c) {
		return
	}
	open := c.start - 1
	for open > c.start-far && open >= 0 && s.p.low[open] != '(' && !parting(s.p.low, open) {
		open--
	}
	if at(s.p.low, open) != '(' {
		return
	}
	for i := c.mark - 1; i >= 0 && s.p.marks[i].start > open; i-- {
		if s.p.marks[i].class&(named|classUse) != 0 {
			return
		}
	}
	if s.p.span(open, c.start).words > 0 {
		o.note(lossNot, &mark{start: open + 1, end: c.start - 1})
	}
}
