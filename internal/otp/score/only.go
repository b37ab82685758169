package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// What the place of a number says in any language: that it is the only one of its
// mail, that it opens the subject, or that no noun names it.

// isFree reports whether nothing speaks against a candidate being the code.
func (s *scoring) isFree(c *candidate) bool {
	l := &s.p.Lines[c.line]
	switch {
	case c.veto != "", c.owner.isOwned(), l.Quoted, l.InFoot(c.start):
		return false
	case c.objections != 0 && (c.taken || c.closeness() < fromAfar):
		return false
	case c.closeness() == 0:
		return c.likeness() > unlikely && (c.kind == Numeric || c.mixed || s.opensSubject(c))
	}
	return c.kind == Numeric || c.mixed || c.small || s.opensSubject(c)
}

// onlyOne strengthens the one number of a mail that can be a code, when the mail
// says anything of codes or signing in, or the number is set as codes are.
func (s *scoring) onlyOne() {
	best := s.leading()
	if best < 0 {
		return
	}
	near := s.cs[best].around
	if near.never || near.void > 0 {
		return
	}
	if c := &s.cs[best]; !near.all && !s.hasSupport(c) && !c.lone && c.start > s.p.Bounds[s.p.Lines[c.line].Part][0]+2*nearby {
		return // in a long mail a number that nothing near names is any number
	}
	var one, other uint64 // the value of the free numbers, and of what else there is
	replaced, backed := false, s.anySupported(near)
	kind := Alphanumeric
	for k := range s.cs {
		c := &s.cs[k]
		switch v := s.p.sum(c); {
		case !near.holds(s.p, c):
		case !s.isFree(c), backed && !s.hasSupport(c):
			replaced = replaced || c.old && c.kind == s.cs[best].kind && c.size == s.cs[best].size
			if c.kind == Numeric && c.veto == "" && !s.isYearOfDate(c) && !s.p.Lines[c.line].InFoot(c.start) {
				other++
			}
		case c.kind == Alphanumeric && kind == Numeric:
		case c.kind == Numeric && kind == Alphanumeric:
			one, kind = v, Numeric
		case one != 0 && one != v:
			return
		default:
			one = v
		}
	}
	for k := range s.cs {
		if c := &s.cs[k]; one != 0 && near.holds(s.p, c) && s.isFree(c) && (!backed || s.hasSupport(c)) && s.p.sum(c) == one {
			s.single(c, other == 0)
			if replaced {
				s.add(c, inPlaceOf)
			}
		}
	}
}

// hasSupport reports whether more speaks for a candidate than that nothing speaks
// against it: a word, an order to enter it, or how it is set.
func (s *scoring) hasSupport(c *candidate) bool {
	return c.isTold() || c.closeness() >= fromAfar || c.boxed || c.lone && s.p.Lines[c.line].Large
}

// anySupported reports whether that holds of any number that can be the code.
func (s *scoring) anySupported(near *surroundings) bool {
	for k := range s.cs {
		if c := &s.cs[k]; c.kind == Numeric && near.holds(s.p, c) && s.isFree(c) && s.hasSupport(c) {
			return true
		}
	}
	return false
}

// standing is how the only number that can be the code stands in its mail.
type standing struct {
	alone     bool // there is no other number at all
	known     bool // the mail speaks of signing in, or warns
	begins    bool // it opens the subject or the text
	whole     bool // it is all the text there is
	hint      bool // something says that there is a code
	labelled  bool // an unknown word is its label
	announced bool // it is in the subject, and the text, without a number, names a code or says where to enter it
}

func (s *scoring) standing(c *candidate, alone bool) standing {
	m, l := c.around, &s.p.Lines[c.line]
	st := standing{
		alone:    alone,
		known:    m.auth+m.guard > 0,
		begins:   c.start == s.p.lineOpening(l) && page.At(s.p.Low, c.end) != '-' && !c.lone && m.not == 0 && (l.Part == page.InSubject || alone && c.start == s.p.Bounds[l.Part][0]),
		whole:    c.lone && s.p.Bounds[l.Part] == [2]int{l.Start, l.End + 1} && l.Part != page.InSubject,
		labelled: c.closeness() < onceName && !c.isTold() && s.isLabelled(c),
	}
	st.announced = alone && l.Part == page.InSubject && c.name.mark < 0 && c.likeness() >= likely && (m.code && s.hasNoLabel(c) || m.use && m.where+m.guard > 1)
	st.hint = st.known || st.announced || st.whole || m.once+m.where > 0 || c.isTold() || st.begins || m.subject.only && c.name.mark < 0 && s.isTied(c)
	return st
}

// single adds to the only number that can be the code.
func (s *scoring) single(c *candidate, alone bool) {
	st := s.standing(c, alone)
	s.singleSet(c, st)
	s.singleSaid(c, st)
	if s.inherits(c, st) {
		s.sum(c, max(0, s.inheritance()-c.closeness()).gives(), subjectGives)
	}
}

// inherits reports whether the name of a code in the subject may be that of a number
// in the text: nothing there says that it is another.
func (s *scoring) inherits(c *candidate, st standing) bool {
	if st.labelled || s.p.Lines[c.line].Part == page.InSubject || !st.known && c.likeness() < typical || s.isQuantity(c) {
		return false
	}
	return c.closeness() > 0 || c.isTold() || c.lone || s.isTied(c) || s.hasNoLabel(c)
}

// singleSet weighs how it is set.
func (s *scoring) singleSet(c *candidate, st standing) {
	l := &s.p.Lines[c.line]
	large := l.Large && c.lone
	if st.hint && c.likeness() >= possible {
		s.add(c, onlyFree)
	}
	if st.alone && (c.likeness() >= likely || c.mixed) && (st.hint || c.boxed || l.Large) {
		s.add(c, onlyAtAll)
		if (c.boxed || large) && !c.around.price && c.around.not == 0 && c.closeness() < fromAfar {
			s.add(c, setAsCode)
		}
	}
	if st.begins && c.likeness() >= possible && (l.Part == page.InSubject || st.known || c.around.code || c.around.where+c.around.once+c.around.brief > 0 || page.At(s.p.Low, c.end) != ' ') {
		s.add(c, begins)
	}
	if st.whole && (c.likeness() >= possible || c.small) {
		s.add(c, wholeText)
	}
	if c.likeness() > unlikely && c.likeness() < likely && s.isWholeText(c) {
		s.add(c, wholeText)
	}
	if m := c.around; c.small && st.alone && m.not+m.void == 0 && !m.done && (c.closeness() >= closeBy && (c.lone || s.isLedTo(c) || s.smallNamed(c)) || st.whole && m.subject.name > nameless) {
		s.add(c, onlySmall)
	}
}

// isWholeText reports whether all the text there is is a word for a code and a number: "PIN
// 48291377".
func (s *scoring) isWholeText(c *candidate) bool {
	b := s.p.Bounds[s.p.Lines[c.line].Part]
	return c.kind == Numeric && c.name.mark >= 0 && s.p.Marks[c.name.mark].Start == b[0] && s.p.Span(s.p.Marks[c.name.mark].End, c.start) == page.Gap{} && s.p.Span(c.end, b[1]).Words == 0
}

// isLedTo reports whether a colon or a word such as "is" leads to a candidate.
func (s *scoring) isLedTo(c *candidate) bool {
	if c.tie || c.mark == 0 {
		return c.tie
	}
	last := &s.p.Marks[c.mark-1]
	return last.Class&lexicon.Is != 0 && s.p.Span(last.End, c.start) == page.Gap{}
}

// singleSaid weighs what is said of it and of codes.
func (s *scoring) singleSaid(c *candidate, st standing) {
	m, l := c.around, &s.p.Lines[c.line]
	noName := c.closeness() < fromAfar && !st.labelled
	if c.closeness() < fromAfar && c.likeness() >= possible && c.size <= 6 && l.Part != page.InSubject && c.kind == Numeric && s.isNearSignIn(c) {
		s.add(c, signedInBy)
	}
	if c.isTold() {
		s.add(c, onlyTold)
	}
	if st.announced {
		s.add(c, announcedBelow)
	}
	if st.labelled {
		s.add(c, ownSentence)
	}
	if !st.alone || c.likeness() < likely && !c.mixed {
		return
	}
	if noName && c.field && m.auth > 1 && !m.done && !m.subject.noun && l.Part != page.InSubject {
		s.add(c, onlyInField)
	}
	if noName && (st.known || m.where > 0) && s.isTied(c) && s.hasLeadIn(c, s.colon(c)) {
		s.add(c, afterColon)
	}
	if noName && st.known && !c.isTold() && l.Part != page.InSubject && s.hasNoLabel(c) && !s.isQuantity(c) {
		s.add(c, unnamed)
	}
	if !st.hint && c.closeness() >= meant && (m.subject.name > nameless || !s.hasUnknownWord(c)) && m.not+m.void == 0 && !m.done && !m.subject.trade {
		s.add(c, nothingElse)
	}
}

// isNearSignIn reports whether a word for signing in or for one use stands shortly before or
// after a candidate in its sentence: "Approve it with 771044."
func (s *scoring) isNearSignIn(c *candidate) bool {
	for o := c.mark - 1; o >= 0 && o >= c.mark-3; o-- {
		m := &s.p.Marks[o]
		if g := s.p.Span(m.End, c.start); g.Words > 3 || g.Sentences+g.Hard+g.Soft > 0 || s.hasSeparator(m.End, c.start) {
			break
		} else if m.Class&(lexicon.Auth|lexicon.Once) != 0 && (g.Words > 0 || s.p.Kind[m.From]&page.Dense != 0) {
			return true
		}
	}
	for o := c.mark; o < len(s.p.Marks) && o <= c.mark+1; o++ {
		m := &s.p.Marks[o]
		if g := s.p.Span(c.end, m.Start); m.Start < c.end || g.Words > 2 || g.Sentences+g.Hard+g.Soft > 0 {
			continue
		} else if m.Class&lexicon.Once != 0 {
			return true
		}
	}
	return false
}
