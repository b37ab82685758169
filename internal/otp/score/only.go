package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// What the place of a number says in any language: that it is the only one of its
// mail, that it opens the subject, or that no noun names it.

// free says whether nothing speaks against a candidate being the code.
func (s *scoring) free(c *candidate) bool {
	l := &s.p.Lines[c.line]
	return c.veto == "" && c.against >= -1 && c.score > -3 && (c.shape > unlikelyShape || c.gain > 0) && !l.InFoot(c.start) && !l.Quoted && (c.kind == Numeric || c.mixed || s.opens(c))
}

// onlyOne strengthens the one number of a mail that can be a code, when the mail
// says anything of codes or signing in, or the number is set as codes are.
func (s *scoring) onlyOne() {
	best := s.leading()
	if best < 0 {
		return
	}
	s.nearKnown = false
	s.topicNear(&s.cs[best])
	s.count(&s.nearTopic)
	s.topic = s.nearTopic
	m := &s.topic
	if m.never || m.void > 0 {
		return
	}
	if c := &s.cs[best]; !s.near.all && !s.backed(c) && !c.lone && c.start > s.p.Bounds[s.p.Lines[c.line].Part][0]+2*nearby {
		return // in a long mail a number that nothing near names is any number
	}
	var one, other uint64 // the value of the free numbers, and of what else there is
	replaced, backed := false, s.anyBacked()
	kind := Alphanumeric
	for k := range s.cs {
		c := &s.cs[k]
		switch v := s.p.sum(c); {
		case !s.near.holds(s.p, c):
		case !s.free(c), backed && !s.backed(c):
			replaced = replaced || c.old && c.kind == s.cs[best].kind && c.size == s.cs[best].size
			if c.kind == Numeric && c.veto == "" && !s.ofDate(c) && !s.p.Lines[c.line].InFoot(c.start) {
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
		if c := &s.cs[k]; one != 0 && s.near.holds(s.p, c) && s.free(c) && (!backed || s.backed(c)) && s.p.sum(c) == one {
			s.single(c, other == 0)
			if replaced {
				s.add(c, inPlaceOf)
			}
		}
	}
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

// ofDate says whether a number is the year of a date whose month is written out:
// "4 November 2026", "Nov 4, 2026". It is not another number of the mail.
func (s *scoring) ofDate(c *candidate) bool {
	const plain, far = -1, 20
	if c.size != 4 || c.shape > plain {
		return false
	}
	digits, names := 0, false
	for i := c.start - 1; i > 0 && i > c.start-far && !s.p.parting(i) || page.At(s.p.Low, i) == ',' && i > c.start-3; i-- {
		switch {
		case page.IsDigit(s.p.Low[i]):
			digits++
		case s.p.Kind[i]&(page.Spaced|page.Dense) != 0:
			names = true
		}
	}
	return names && digits > 0 && digits <= 2
}

// backed says whether more speaks for a candidate than that nothing speaks
// against it: a word, an order to enter it, or how it is set.
func (s *scoring) backed(c *candidate) bool {
	return c.instructed || c.gain >= 2 || c.boxed || c.lone && s.p.Lines[c.line].Large
}

// anyBacked says whether that holds of any number that can be the code.
func (s *scoring) anyBacked() bool {
	for k := range s.cs {
		if c := &s.cs[k]; c.kind == Numeric && s.near.holds(s.p, c) && s.free(c) && s.backed(c) {
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
	m, l := &s.topic, &s.p.Lines[c.line]
	st := standing{
		alone:    alone,
		known:    m.auth+m.guard > 0,
		begins:   c.start == s.p.opening(l) && page.At(s.p.Low, c.end) != '-' && !c.lone && m.not == 0 && (l.Part == page.InSubject || alone && c.start == s.p.Bounds[l.Part][0]),
		whole:    c.lone && s.p.Bounds[l.Part] == [2]int{l.Start, l.End + 1} && l.Part != page.InSubject,
		labelled: c.gain <= weakGain && !c.instructed && s.labelled(c),
	}
	st.announced = alone && l.Part == page.InSubject && c.anchor < 0 && c.shape >= likelyShape && (m.code && s.unlabelled(c) || m.use && m.where+m.guard > 1)
	st.hint = st.known || st.announced || st.whole || m.once+m.where > 0 || c.instructed || st.begins || m.subjectOnly && c.anchor < 0 && s.tied(c)
	return st
}

// single adds to the only number that can be the code.
func (s *scoring) single(c *candidate, alone bool) {
	st := s.standing(c, alone)
	s.singleSet(c, st)
	s.singleSaid(c, st)
	m := &s.topic
	if c.gain < m.subjectCode && s.inherits(c, st) {
		s.sum(c, m.subjectCode-c.gain, subjectGives)
		c.gain = m.subjectCode
	}
}

// inherits says whether the name of a code in the subject may be that of a number
// in the text: nothing there says that it is another.
func (s *scoring) inherits(c *candidate, st standing) bool {
	if st.labelled || s.p.Lines[c.line].Part == page.InSubject || !st.known && c.shape < 1 || s.counts(c) {
		return false
	}
	return c.gain > 0 || c.instructed || c.lone || s.tied(c) || s.unlabelled(c)
}

// singleSet weighs how it is set.
func (s *scoring) singleSet(c *candidate, st standing) {
	l := &s.p.Lines[c.line]
	large := l.Large && c.lone
	if st.hint && c.shape >= 0 {
		s.add(c, onlyFree)
	}
	if st.alone && (c.shape >= likelyShape || c.mixed) && (st.hint || c.boxed || l.Large) {
		s.add(c, onlyAtAll)
		if (c.boxed || large) && !s.topic.price && s.topic.not == 0 && c.gain < 2 {
			s.add(c, setAsCode)
		}
	}
	if st.begins && c.shape >= 0 && (l.Part == page.InSubject || st.known || s.topic.code || s.topic.where+s.topic.once+s.topic.brief > 0 || page.At(s.p.Low, c.end) != ' ') {
		s.add(c, begins)
	}
	if st.whole && c.shape >= 0 {
		s.add(c, wholeText)
	}
}

// singleSaid weighs what is said of it and of codes.
func (s *scoring) singleSaid(c *candidate, st standing) {
	m, l := &s.topic, &s.p.Lines[c.line]
	noName := c.gain < 2 && !st.labelled
	if c.gain < 2 && c.shape >= 0 && c.size <= 6 && l.Part != page.InSubject && c.kind == Numeric && s.by(c) {
		s.add(c, signedInBy)
	}
	if c.instructed {
		s.add(c, onlyTold)
	}
	if st.announced {
		s.add(c, announcedBelow)
	}
	if st.labelled {
		s.add(c, ownSentence)
	}
	if !st.alone || c.shape < likelyShape && !c.mixed {
		return
	}
	if noName && c.field && m.auth > 1 && !m.done && !m.subjectNoun && l.Part != page.InSubject {
		s.add(c, onlyInField)
	}
	if noName && (st.known || m.where > 0) && s.tied(c) && s.led(c, s.colon(c)) {
		s.add(c, afterColon)
	}
	if noName && st.known && !c.instructed && l.Part != page.InSubject && s.unlabelled(c) && !s.counts(c) {
		s.add(c, unnamed)
	}
	if !st.hint && c.gain >= slightGain && (m.subjectCode > 0 || !s.strange(c)) && m.not+m.void == 0 && !m.done && !m.subjectTrade {
		s.add(c, nothingElse)
	}
}

// by says whether a word for signing in or for one use stands shortly before or
// after a candidate in its sentence: "Approve it with 771044."
func (s *scoring) by(c *candidate) bool {
	for o := c.mark - 1; o >= 0 && o >= c.mark-3; o-- {
		m := &s.p.Marks[o]
		if g := s.p.Span(m.End, c.start); g.Words > 3 || g.Sentences+g.Hard+g.Soft > 0 || s.parted(m.End, c.start) {
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
