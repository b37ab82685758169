package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// What the facts about a candidate weigh.

// add gives a candidate the weight of a feature.
func (s *scoring) add(c *candidate, f *feature) { s.sum(c, f.weight, f.text) }

// addTimes gives it the weight as often as the value of the feature says.
func (s *scoring) addTimes(c *candidate, f *feature, value float64) {
	s.sum(c, value*f.weight, f.text)
}

// sum gives it what several features come to.
func (s *scoring) sum(c *candidate, n float64, why string) {
	c.score += n
	if s.explain && n != 0 {
		c.reasons = append(c.reasons, reason{n, why})
	}
}

// because names the phrase that is the reason.
func (s *scoring) because(c *candidate, n float64, why string, m *lexicon.Mark) {
	if s.explain {
		why += " “" + s.p.Shown(m.Start, m.End) + "”"
	}
	s.sum(c, n, why)
}

// gives is what the closeness of a name gives to a number.
func (n closeness) gives() float64 { return thousandth * float64(n) * closenessOfName.weight }

// weigh adds up what speaks for a candidate and against it.
func (s *scoring) weigh(k int) {
	c := &s.cs[k]
	if c.veto != "" {
		return
	}
	s.addForm(c)
	s.addName(c)
	s.addOrder(c)
	s.addLook(c)
	s.addObjections(c)
	s.addOwner(c)
	s.addTopic(c)
}

// addName gives a candidate what names it.
func (s *scoring) addName(c *candidate) {
	n := &c.name
	if n.mark >= 0 {
		why := "after"
		if n.behind {
			why = "before"
		}
		s.because(c, n.closeness.gives(), why, &s.p.Marks[n.mark])
	}
	s.sum(c, c.inherited.gives(), subjectGives)
	if (c.year || c.example && c.form == fourDigits) && c.objections&aYear == 0 {
		s.addYear(c)
	}
	switch {
	case c.excused && c.example:
		s.add(c, testDigits)
	case c.excused:
		s.sum(c, -promotion.weight, "so it is no promotion")
	}
	if c.kind == Alphanumeric && !s.isEvident(c) {
		s.add(c, bareLetters)
	}
	if s.boundToDomain(c) {
		s.add(c, domainBound)
	}
}

// addYear gives back what four digits lost for looking like a year, where a word
// right before them or the subject says that they are a code.
func (s *scoring) addYear(c *candidate) {
	n := &c.name
	if n.mark >= 0 && !n.behind && (n.led && n.closeness >= closeBy || n.closeness >= firm) {
		s.add(c, noYear)
	}
	if c.lone && s.subject.name == codeName && c.around.figures == 0 {
		s.add(c, noYearAsked)
	}
}

// addOrder gives a candidate what an order to enter it does.
func (s *scoring) addOrder(c *candidate) {
	o := &c.order
	switch o.given {
	case inLineAbove:
		s.add(c, toldAbove)
	case inLineBelow:
		s.add(c, toldBelow)
	case besideNumber:
		told := toldWord
		switch {
		case o.weak:
		case c.kind == Numeric && c.size != 7, c.mixed, c.form == prefixed:
			told = toldNumber
		case c.kind == Numeric:
			told = toldSeven
		}
		s.because(c, told.weight, "told to", &s.p.Marks[o.mark])
		if o.unknown {
			s.add(c, toldUnknown)
		}
		if o.aimed {
			s.add(c, purpose)
		}
	}
}

// addLook gives a candidate what its setting says.
func (s *scoring) addLook(c *candidate) {
	l := &s.p.Lines[c.line]
	lone := c.lone && l.Part != page.InSubject
	if lone {
		s.add(c, aloneOnLine)
	}
	if lone && c.letters && l.Start == s.p.Bounds[l.Part][0] && l.End+1 < s.p.Bounds[l.Part][1] {
		s.add(c, heading)
	}
	if l.Large && c.lone {
		s.add(c, setLarge)
	}
	if c.size > 8 && l.InFoot(c.start) {
		s.add(c, inFooter)
	}
	if l.Quoted {
		s.add(c, inQuote)
	}
	if l.Link {
		s.add(c, linkText)
	}
	if c.emphasis == page.StrongText && !l.Large {
		s.add(c, setApart)
	}
	if c.field {
		s.add(c, besideField)
	}
}

// objectionRows are the rows of the objections, in their order.
var objectionRows = [...]*feature{struck, yearOfDate, toldToPerson, ofPayment, ofReport, ofOutcome, secretOfNumber, secretTyped, secretOfNoun, inQuotation}

// addObjections takes from a candidate what speaks against it where it stands.
func (s *scoring) addObjections(c *candidate) {
	for i, f := range objectionRows {
		if c.objections>>i&1 != 0 {
			s.add(c, f)
		}
	}
}

// ownerWeights are the weights of owners, and the part of each that counts.
var ownerWeights = [...]struct {
	*feature
	part float64
}{
	bySign: {numberSign, 1}, byFarNoun: {lossNot, quarterOf}, byFarCode: {lossVoid, quarterOf}, byNounNearby: {lossNot, halfOf},
	byNounBehind: {nounAfter, 1}, byCodeNearby: {lossVoid, halfOf}, bySpent: {oldWord, 1}, byNoun: {lossNot, 1},
	byUnit: {unitAfter, 1}, byOtherCode: {lossVoid, 1},
}

// addOwner gives a candidate what its owner takes.
func (s *scoring) addOwner(c *candidate) {
	o := &c.owner
	if o.kind == unowned {
		return
	}
	w := ownerWeights[o.kind]
	n := w.weight * w.part
	if o.held {
		n -= ownerHeld.weight * n
	}
	if o.mark.End > 0 {
		s.because(c, n, "it belongs to", &o.mark)
	} else {
		s.sum(c, n, "it belongs to something else")
	}
}

// formRows are the rows of the forms.
var formRows = [...]*feature{
	fourDigits: digits4, fiveDigits: digits5, sixDigits: digits6, sevenDigits: digits7, eightDigits: digits8, tenDigits: digits10,
	evenGroups: fours, digitByDigit: spelled, inBoxes: boxedShape, twoThrees: threes, oddlyGrouped: oddGroups, unevenlyEnded: threeFour,
	prefixed: prefixedShape, chosenPassword: chosenShape, wordAndNumber: promotion, lettersAlone: capitals, fiveToEight: mixedShape,
	fewerOrMore: mixedOther, withSmall: smallLetters,
}

// addForm gives a candidate what its form does.
func (s *scoring) addForm(c *candidate) {
	if f := formRows[c.form]; f != nil {
		s.add(c, f)
	}
	if c.year {
		s.add(c, yearShape)
	}
	if c.example {
		s.add(c, testShape)
	}
	if c.zeros {
		s.add(c, zerosShape)
	}
}

// addTopic gives a candidate what its surroundings are about.
func (s *scoring) addTopic(c *candidate) {
	t := c.around
	if t.auth > 0 {
		s.add(c, aboutSigningIn)
	}
	if t.subject.auth {
		s.add(c, subjectSigningIn)
	}
	switch {
	case t.guard > 0:
		s.add(c, warning)
	case t.brief+t.once > 0:
		s.add(c, briefOrOnce)
	}
	if f := t.otherCodes(); f != nil {
		s.addTimes(c, f, c.shareOfOthers())
	}
	if c.kind == Alphanumeric && t.void > 0 {
		s.add(c, voidLetters) // letters are sooner a booking than a code
	}
	if t.void > 0 && !c.named && t.auth-t.label+t.guard+t.once == 0 {
		s.add(c, voidSilent)
	}
	if t.never {
		s.add(c, neverCode)
	}
	if t.subject.old {
		s.add(c, subjectExpired)
	}
	if t.initial && !c.named && t.once == 0 {
		s.add(c, initialPassword)
	}
	if s.p.IsReply() && !c.named && !c.tie && !c.lone && !c.isTold() {
		s.add(c, answer)
	}
	if c.isTold() {
		return
	}
	if t.done && c.closeness() < fromAfar {
		s.add(c, doneUnnamed)
	}
	if t.subject.noun && t.auth < 2 && c.closeness() < fromAfar && t.hasNoUse() {
		s.add(c, nounUnnamed)
	}
	s.addTrade(c)
}

// shareOfOthers is the share of what the names of other codes take that counts: what a
// number is called says more than what else the mail is about, and what is typed into the
// page is its code. What is fetched is opened by a code, however it is called.
func (c *candidate) shareOfOthers() float64 {
	t := c.around
	switch {
	case c.named && t.void < 2:
		return firmShare.weight
	case c.named && !(t.subject.void && t.isSilent()):
		return firmVoidShare.weight
	case c.isTold() && c.field && t.auth > 0 && t.void < 3:
		return firmVoidShare.weight
	}
	return 1
}

// addTrade takes from a candidate what it loses in a mail about something paid, bought
// or booked.
func (s *scoring) addTrade(c *candidate) {
	t := c.around
	if t.isReceipt() && !c.named && !c.lone && !s.isPriced(c) {
		s.add(c, receipt)
		if t.figures > 1 {
			s.add(c, receipt)
		}
		if t.done {
			s.add(c, receipt)
		}
	}
	if t.isTrade() && !(c.named && t.use) {
		s.add(c, trade)
	}
	if t.isSettledTrade() || t.isBooking() {
		s.add(c, settledTrade)
	}
}

// otherCodes is what codes of other kinds make of a mail: promotions, invitations, doors.
func (t *topic) otherCodes() *feature {
	known := t.auth - t.label + t.guard
	switch {
	case t.never || t.void == 0:
		return nil
	case t.void > 1 && known == 0, t.void > 2 && (t.subject.void || t.auth+t.guard == 0):
		return voidsOnly
	case t.subject.void, t.void > 1:
		return voidSubject
	case known == 0:
		return voidOnly
	}
	return voidOne
}
