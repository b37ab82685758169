package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// An objection is something in the place of a number, in its sentence or in the mail that says it
// is no code, or is not to be used.
type objection uint16

// The objections.
const (
	crossedOut   objection = 1 << iota
	aYear                  // in a date or a title
	toPerson               // the reader is to tell it to a person, and the mail does not mention signing in
	madePayment            // it is that of a payment or booking that was made
	inReport               // the mail reports what has happened
	inOutcome              // the subject reports an outcome
	secretBeside           // it is the secret of the long number before it
	typedSecret            // and goes into the program, not the page
	secretOfOne            // it is the secret of what is named before it
	quotedWords            // its sentence is quoted
)

// objectionsTo finds what speaks against a candidate where it stands.
func (s *scoring) objectionsTo(k int) (all objection) {
	c := &s.cs[k]
	note := func(o objection, holds bool) {
		if holds {
			all |= o
		}
	}
	note(crossedOut, c.emphasis == page.StruckText)
	note(aYear, (c.year || c.example && c.form == fourDigits) && s.isYear(c))
	note(toPerson, c.around.isSilent() && !c.isTold() && s.isHandedOver(k))
	note(madePayment, c.name.mark >= 0 && !c.isTold() && c.around.isSettled(s.paymentName(c)))
	note(inReport, s.isReported(k))
	note(inOutcome, s.isOutcome(k))
	if s.isSecretOf(k) {
		note(secretBeside, true)
		note(typedSecret, c.isTold())
	}
	note(secretOfOne, s.pairedWith(k))
	note(quotedWords, s.isQuoted(c))
	return all
}

// isReported reports whether only a word that may name a code names a number, in a mail that
// reports what has happened, and nothing in the sentence speaks of signing in: "New
// sign-in from Leeds. Support code 482913."
func (s *scoring) isReported(k int) bool {
	c, m := &s.cs[k], s.cs[k].around
	if !m.done || m.use || c.isTold() || c.lone || c.name.mark < 0 || m.subject.name > nameless || m.once+m.where+m.brief > 0 {
		return false
	}
	return s.p.Marks[c.name.mark].Class&(lexicon.Code|lexicon.Once) == 0 && !s.isBeside(c.name.mark, lexicon.Once) && !s.inSentence(k, lexicon.Auth, 8)
}

// isOutcome reports whether the subject reports what has happened, and the mail does not say
// what to do with a code or how long it is good: "Number verified", and below it "Code
// 482913 matched". A sign-in that it reports may wait for what has a name of a code, what
// a colon leads to is handed out, and a verb before the number may be an order: "Verify it
// with 482913".
func (s *scoring) isOutcome(k int) bool {
	c, m := &s.cs[k], s.cs[k].around
	if !m.subject.outcome && (!m.subject.done || c.named || m.use) || c.isTold() || c.lone || c.closeness() >= closeBy && s.isTied(c) || m.where+m.brief > 0 {
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
func (s *scoring) paymentName(c *candidate) lexicon.Class {
	class := s.p.Marks[c.name.mark].Class
	if class&lexicon.Code == 0 && c.around.auth < 2 && c.around.not > 0 && s.isBeside(c.name.mark, lexicon.Auth) {
		class |= lexicon.Approval
	}
	return class
}

// goesInto reports whether the sentence names the place where a code is typed:
// "… in the app", "… on the sign-in page".
func (s *scoring) goesInto(k int) bool { return s.inSentence(k, lexicon.Where, 8) }

// isHandedOver reports whether the sentence asks to tell the number to a person: a
// driver, a clerk.
func (s *scoring) isHandedOver(k int) bool { return s.inSentence(k, lexicon.Tell, 5) }

// inSentence reports whether a word of some class stands in the sentence of a candidate,
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
