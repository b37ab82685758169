package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// place weighs where in its sentence and markup a candidate stands.
func (s *scoring) place(k int) {
	c := &s.cs[k]
	switch s.p.Dressed(c.start, c.end, c.spans) {
	case page.StruckText:
		s.add(c, struck)
		c.old = true
	case page.StrongText:
		if !s.p.Lines[c.line].Large {
			s.add(c, setApart)
		}
	}
	if s.topic.silent() && !c.instructed && s.handedOver(k) {
		s.add(c, toldToPerson)
	}
	if c.anchor >= 0 && !c.instructed && s.topic.settled(s.paymentName(c.anchor)) {
		s.add(c, ofPayment)
	}
	if s.reported(k) {
		s.add(c, ofReport)
	}
	if s.outcome(k) {
		s.add(c, ofOutcome)
	}
	if s.secretOf(k) {
		s.add(c, secretOfNumber)
		if c.instructed {
			c.against += secretTyped.weight // into the program, not the page
		}
	}
	if s.pairedWith(k) {
		s.add(c, secretOfNoun)
	}
	if s.quoted(c) {
		s.add(c, inQuotation)
	}
	if s.goesInto(k) {
		s.add(c, besideField)
		c.field = true
	}
}

// reported says whether only a word that may name a code names a number, in a mail that
// reports what has happened, and nothing in the sentence speaks of signing in: "New
// sign-in from Leeds. Support code 482913."
func (s *scoring) reported(k int) bool {
	c, m := &s.cs[k], &s.topic
	if !m.done || m.use || c.instructed || c.lone || c.anchor < 0 || m.subjectCode > 0 || m.once+m.where+m.brief > 0 {
		return false
	}
	return s.p.Marks[c.anchor].Class&(lexicon.Code|lexicon.Once) == 0 && !s.beside(c.anchor, lexicon.Once) && !s.inSentence(k, lexicon.Auth, 8)
}

// outcome says whether the subject reports what has happened, and the mail does not say
// what to do with a code or how long it is good: "Number verified", and below it "Code
// 482913 matched". A sign-in that it reports may wait for what has a name of a code, what
// a colon leads to is handed out, and a verb before the number may be an order: "Verify it
// with 482913".
func (s *scoring) outcome(k int) bool {
	c, m := &s.cs[k], &s.topic
	if !m.subjectOutcome && (!m.subjectDone || c.firm || m.use) || c.instructed || c.lone || c.gain >= closeGain && s.tied(c) || m.where+m.brief > 0 {
		return false
	}
	verb := false
	s.leftOf(k, lexicon.Auth, func(l nearWord) bool {
		verb = s.p.Marks[l.mark].Class&lexicon.Outcome == 0 && l.gap.Words <= 6 && l.gap.Sentences+l.gap.Hard+l.gap.Soft == 0
		return false
	})
	return !verb
}

// paymentName returns the classes of a word for a code. In a mail that names other
// numbers and says little of signing in, one beside a word for approving is the name of
// an approval, whether or not a lexicon lists it as one: "code d'autorisation".
func (s *scoring) paymentName(m int) lexicon.Class {
	class := s.p.Marks[m].Class
	if class&lexicon.Code == 0 && s.topic.auth < 2 && s.topic.not > 0 && s.beside(m, lexicon.Auth) {
		class |= lexicon.Approval
	}
	return class
}

// goesInto says whether the sentence names the place where a code is typed:
// "… in the app", "… on the sign-in page".
func (s *scoring) goesInto(k int) bool { return s.inSentence(k, lexicon.Where, 8) }

// handedOver says whether the sentence asks to tell the number to a person: a
// driver, a clerk.
func (s *scoring) handedOver(k int) bool { return s.inSentence(k, lexicon.Tell, 5) }

// inSentence says whether a word of some class stands in the sentence of a candidate,
// and no more than so many words away.
func (s *scoring) inSentence(k int, some lexicon.Class, far int) (found bool) {
	near := func(l nearWord) bool {
		found = l.gap.Words <= far && l.gap.Sentences+l.gap.Hard == 0
		return false
	}
	if s.leftOf(k, some, near); !found {
		s.rightOf(k, some, near)
	}
	return found
}
