package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// bind ties a candidate to the best word that names a code, on either side.
func (s *scoring) bind(k int) {
	c := &s.cs[k]
	tie := c.tie
	best, mark := float64(0), -1
	var why string
	s.leftOf(k, lexicon.Is|named, func(l nearWord) bool {
		m := &s.p.Marks[l.mark]
		if m.Class&lexicon.Is != 0 && l.gap.Words == 0 && l.gap.Sentences == 0 {
			tie = true
		}
		if m.Class&named == 0 {
			return true
		}
		if v := s.worth(c, l, tie); v > best {
			best, mark, why = v, l.mark, "after"
		}
		return l.gap.numbers < 2
	})
	is := s.dashAfter(c)
	s.rightOf(k, anyClass, func(l nearWord) bool {
		m := &s.p.Marks[l.mark]
		is = is || m.Class&lexicon.Is != 0 && l.gap.Words == 0 && l.gap.Sentences == 0
		if m.Class&named == 0 || s.leads(k, l.mark) {
			return l.gap.Sentences == 0
		}
		v := s.worth(c, l, is)
		if is {
			v += saidAfter.weight
		}
		if v > best {
			best, mark, why = v, l.mark, "before"
		}
		return l.gap.numbers < 1 && l.gap.Sentences < 1
	})
	if best > 3 && best < gainBoth.weight && s.topic.subjectCode >= subjectName.weight && s.p.Lines[c.line].Part != page.InSubject {
		best += subjectBacks.weight // the subject says what the word is short for
	}
	c.anchor, c.gain, c.firm = mark, best, best >= firmGain && s.p.Marks[mark].Class&lexicon.Code != 0
	c.priced = why == "after" && tie && s.p.Span(s.p.Marks[mark].End, c.start).Words > 3
	if mark >= 0 {
		s.because(c, best, why, &s.p.Marks[mark])
	}
	if c.kind == Numeric && c.size == 4 && c.shape < -1 {
		s.yearOrCode(c, why == "after" && (tie || best >= sureGain))
	}
	if best >= gainWord.weight && (tie || is) {
		s.nameTestDigits(c)
	}
	s.namedWord(c, tie || is || s.namedBefore(c))
	instructed := s.findInstruction(k)
	if l := &s.p.Lines[c.line]; best < s.topic.subjectCode && (c.lone || instructed || tie) && c.against == 0 && l.Part != page.InSubject {
		s.sum(c, s.topic.subjectCode-best, subjectGives)
		c.gain = s.topic.subjectCode
		s.nameTestDigits(c)
	}
	s.doubt(c, instructed, tie)
	if s.boundToDomain(c) {
		s.add(c, domainBound)
	}
}

// nameTestDigits gives back what the digits of an example lost, where something names
// them: mails of a service under test hold such codes.
func (s *scoring) nameTestDigits(c *candidate) {
	if c.kind == Numeric && c.groups == 1 && c.shape < 0 && sequence(s.p.Low[c.start:c.end]) {
		c.shape += testDigits.weight
		s.add(c, testDigits)
	}
}

// namedWord gives back what a word with a number at its end ("REED27") lost for looking
// like a promotion, where a strong name of a code is tied to it, or stands on the line
// above, and nothing near speaks of other codes, or of orders without signing in.
func (s *scoring) namedWord(c *candidate, tie bool) {
	if c.kind != Alphanumeric || c.shape != promotion.weight || c.gain < firmGain || c.anchor < 0 || !tie && !c.lone || s.topic.void > 0 || s.topic.auth == 0 && s.topic.not > 0 {
		return
	}
	if m := &s.p.Marks[c.anchor]; m.Class&lexicon.Code == 0 && !s.beside(c.anchor, lexicon.Auth) || m.Class&lexicon.Once != 0 && s.topic.auth == 0 {
		return
	}
	c.shape = 0
	s.sum(c, -promotion.weight, "so it is no promotion")
}

// yearOrCode gives back what four digits lost for looking like a year, where a word
// right before them or the subject says that they are a code. In a date whose month
// is written out they are a year.
func (s *scoring) yearOrCode(c *candidate, close bool) {
	if s.ofDate(c) {
		s.add(c, yearOfDate)
		return
	}
	if close && c.gain >= closeGain {
		s.add(c, noYear)
	}
	if c.lone && s.topic.subjectCode >= subjectName.weight && s.topic.figures == 0 {
		s.add(c, noYearAsked)
	}
}

// doubt wants more evidence of what is sooner something else: thousands, words.
func (s *scoring) doubt(c *candidate, instructed, tie bool) {
	if c.pointed && !instructed && (c.gain < looseGain || c.gain < closeGain && !tie && !c.lone) {
		c.veto = aFigure
		s.sum(c, vetoed.weight, c.veto)
	} else if c.pointed && c.size == 7 && (c.anchor < 0 || c.gain < closeGain || s.p.Marks[c.anchor].Class&(lexicon.Code|lexicon.Word) == 0) {
		c.veto = aPhoneOrAccount
		s.sum(c, vetoed.weight, c.veto)
	}
	if c.kind == Alphanumeric && !s.evident(c, c.gain, tie) {
		s.add(c, bareLetters)
	}
}

// leads says whether a word behind a candidate stands right before another one,
// of which it is the name: "for 253-879-770 the code is 482913".
func (s *scoring) leads(k, mark int) bool {
	m := &s.p.Marks[mark]
	for n := k + 1; n < len(s.cs) && n <= k+4; n++ {
		if o := &s.cs[n]; o.start >= m.End {
			return o.veto == "" && (o.kind == Numeric || o.mixed) && s.p.Span(m.End, o.start) == page.Gap{} && s.p.Span(s.cs[k].end, m.Start).Words > 0
		}
	}
	return false
}

// worth is what one word gives to a candidate, less for every word, sentence
// and number between them.
func (s *scoring) worth(c *candidate, l nearWord, tie bool) float64 {
	gain, cost := s.strength(c, l, tie), s.distance(c, l, tie)
	switch {
	case gain == 0:
		return 0
	case tie && l.left && !s.hasLabel(c, l):
		return max(0, gain-tiedCost.weight*cost+tiedWord.weight)
	case l.left && l.gap.Words == 0 && s.ends(c):
		gain += closingNumber.weight
	}
	return max(0, gain-cost)
}

// hasLabel says whether words on a candidate's own line stand before it, which what ties
// it to its name belongs to, and not a word on a line above: “API key created”, and below
// it “Audit record: 1188402”.
func (s *scoring) hasLabel(c *candidate, l nearWord) bool {
	start := s.p.Lines[c.line].Start
	return s.p.Marks[l.mark].End <= start && s.p.Span(start, c.start).Words > 0
}

// strength is how surely a word names the code, or 0 if it names another.
func (s *scoring) strength(c *candidate, l nearWord, tie bool) float64 {
	m, g := &s.p.Marks[l.mark], l.gap
	switch {
	case m.Class&lexicon.Code != 0:
		return gainCode.weight
	case m.Class&(lexicon.Word|lexicon.Number) == 0: // for one use, whatever it is
		switch {
		case !l.left || g.Words > 3 || g.Sentences > 0:
			return 0
		case s.approves(l.mark) && tie && g.Words == 0:
			return gainBoth.weight
		case s.ownedBy(l.mark, lexicon.Void):
			return 0
		}
		return gainOnce.weight - s.silence(c, l, tie)
	case m.Class&(lexicon.Word|lexicon.Number) == lexicon.Number && (g.Words > 1 || g.figures > 0 || !s.asked(l.mark, c)):
		return 0
	case s.owned(l.mark), s.lasting(l.mark), m.Class&lexicon.Digits != 0 && s.topic.auth+s.topic.guard == 0 && !s.asked(l.mark, c):
		return 0
	case s.beside(l.mark, lexicon.Auth|lexicon.Once) && m.From > m.Start: // of a compound with an unknown beginning
		return gainWord.weight - s.silence(c, l, tie)
	case s.beside(l.mark, lexicon.Auth|lexicon.Once):
		return gainBoth.weight - s.silence(c, l, tie)
	case s.aimed(l.mark):
		return gainAimed.weight - s.silence(c, l, tie)
	}
	return gainWord.weight - s.strangeness(c, l, tie) - s.silence(c, l, tie)
}

// approves says whether a word for one use stands in brackets right behind the name of an
// approval, which then is no number of a receipt: "Approval code (single use): 774310".
func (s *scoring) approves(m int) bool {
	if m == 0 || s.p.Marks[m-1].Class&lexicon.Approval == 0 || page.At(s.p.Low, s.p.Marks[m].Start-1) != '(' {
		return false
	}
	return s.p.Span(s.p.Marks[m-1].End, s.p.Marks[m].Start) == page.Gap{}
}

// lasting says whether a word for a code is one for a password, and the mail does
// not say that it is for one use or a short time, or what else to do with it.
func (s *scoring) lasting(m int) bool {
	const password = lexicon.Word | lexicon.Auth
	return s.p.Marks[m].Class&password == password && s.topic.guard+s.topic.once+s.topic.brief+s.topic.where == 0
}

// strangeness is what a weak word loses to the words around it that make it the
// name of another code.
func (s *scoring) strangeness(c *candidate, l nearWord, tie bool) float64 {
	loss := s.estranged(l.mark)
	if !l.left {
		return loss
	}
	if s.topic.auth+s.topic.guard > 0 {
		if l.gap.Words <= 2 && !s.orderedBefore(l.mark) && !s.unlabelled(c) && s.qualified(l.mark, c) {
			loss -= otherCode.weight
		}
		return loss
	}
	if s.topic.silent() && s.qualified(l.mark, c) {
		loss -= nounBetween.weight
	}
	if !tie && s.listed(l.mark) {
		loss -= listedWord.weight
	}
	return loss
}

// orderedBefore says whether an order to enter it stands right before a word for a code: "enter the deletion code".
func (s *scoring) orderedBefore(m int) bool {
	if m == 0 || s.p.Marks[m-1].Class&lexicon.Use == 0 {
		return false
	}
	g := s.p.Span(s.p.Marks[m-1].End, s.p.Marks[m].Start)
	return g.Words <= 1 && g.Sentences+g.Hard+g.Soft == 0
}

// silence is what a weak word loses in a mail that does not speak of signing in:
// if no colon or "is" ties the number to it, and if the mail names other numbers. A noun
// in the subject alone may be the name of the service, and takes nothing from a word to
// which the number is tied.
func (s *scoring) silence(c *candidate, l nearWord, tie bool) (loss float64) {
	if !s.topic.silent() || s.topic.subjectCode > 0 {
		return 0
	}
	if !tie && !c.lone && page.At(s.p.Low, c.start-1) != page.CellBreak {
		loss -= untiedSilent.weight
		if !s.ends(c) {
			loss -= untiedInside.weight
		}
	}
	if s.topic.not > 0 && (s.topic.textNouns || !tie) && !s.asked(l.mark, c) {
		loss -= otherNumbers.weight
	}
	return loss
}

// namesBetween counts the words of a service's name between a word and a number in one
// sentence, which are no distance: "your code for Pine Mobile is". Behind letters and
// digits that open a line, a host or capitals are such a name too: "K7P2XD is your OAK24
// code".
func (s *scoring) namesBetween(c *candidate, l nearWord) int {
	m := &s.p.Marks[l.mark]
	opens := !l.left && c.mixed && c.start == s.p.Lines[c.line].Start
	switch {
	case l.gap.Words == 0 || l.gap.Sentences+l.gap.Hard+l.gap.numbers > 0 || l.gap.figures > 0 && !opens:
		return 0
	case l.left:
		return min(2, s.p.Names(m.End, c.start, l.mark, false))
	}
	return min(2, s.p.Names(c.end, m.Start, c.mark, opens))
}

// distance is what stands between a word and a number.
func (s *scoring) distance(c *candidate, l nearWord, tie bool) (cost float64) {
	words, sentences := float64(l.gap.Words-s.namesBetween(c, l)), float64(l.gap.Sentences)
	breaks := float64(l.gap.Hard) + softCost.weight*float64(l.gap.Soft)
	switch {
	case l.left && c.lone: // sentences and breaks may lead up to a number alone on its line
	case l.left:
		cost = leftWordCost.weight*words + leftSentenceCost.weight*sentences + leftBreakCost.weight*breaks
		if !tie {
			cost += farWordCost.weight * max(0, words-3)
		}
	case l.gap.Words == 0 && l.gap.Sentences+l.gap.Hard == 0 && (l.gap.Soft == 0 || c.lone): // “482913 code”
	default:
		if c.lone {
			breaks = max(0, breaks-1)
		}
		cost = rightCost.weight + rightWordCost.weight*words + rightSentenceCost.weight*sentences + rightBreakCost.weight*breaks
	}
	return cost + rivalCost.weight*float64(l.gap.numbers)
}
