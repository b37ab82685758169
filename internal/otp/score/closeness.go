package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// A closeness is how closely a word names a number: what the word says, less for all that
// stands in between. It is a measure, not a weight: conditions are read against it, and
// make otp-fit leaves it alone. The row closeness of the table weighs a thousand of it.
type closeness int

// The closeness that conditions ask for.
const (
	somewhere closeness = 1000 // a word that may name it is somewhere
	fromAfar  closeness = 2000 // it names the number from afar
	meant     closeness = 2500 // it is nearer, and may be meant
	notFar    closeness = 3000 // it is near
	closeBy   closeness = 4500 // it is close by
	firm      closeness = 4900 // it is a name of a code, or is made one by a word beside it, and right at the number
)

// What a word right at a number says.
const (
	fullName  closeness = 6000 // a name of a one-time code: “verification code”
	pairName  closeness = 5400 // a word that may name one, beside one for signing in or for one use: “login code”
	aimedName closeness = 5050 // such a word whose sentence says that it is for signing in: “the code you need to log in”
	wordName  closeness = 4050 // such a word: “code”
	onceName  closeness = 3600 // what is for one use, whatever it is called: “one-time number”

	subjectName closeness = 3400 // what a number inherits from a subject with a name of a one-time code
	subjectWord closeness = 3000 // and from one with a word for a code
)

// What brings a word closer.
const (
	saidAfter     closeness = 1500 // a dash, colon or “is” between a number and the word behind it: “482913 is your code”
	tiedWord      closeness = 1000 // a colon or “is” between a word and the number behind it, which also takes two fifths of the distance away
	subjectBacks  closeness = 800  // the subject has a name of a code, which a weak word in the text is short for
	closingNumber closeness = 600  // a word right before a number that ends its sentence
)

// What stands between a word and a number.
const (
	rival         closeness = 3000 // each number that could have the word
	wordBefore    closeness = 220  // each word
	farWord       closeness = 230  // each from the fourth on, where nothing ties the number to the word, in addition
	sentence      closeness = 2200 // each end of a sentence
	hardBreak     closeness = 900  // each end of a paragraph or block
	softBreak     closeness = 180  // each end of a line
	behind        closeness = 500  // the word is behind the number, not at once
	wordBehind    closeness = 300  // each word, likewise
	sentenceAfter closeness = 3000 // each end of a sentence
	hardAfter     closeness = 2000 // each end of a paragraph; from the second on, if the number is alone on its line
	softAfter     closeness = 400  // each end of a line, likewise
)

// What makes a weak word the name of another code.
const (
	nounBetween    closeness = 1200 // an unknown noun between the word and the number, in a mail that is silent about signing in: “código de cita 482913”
	otherCode      closeness = 4500 // such a noun right before the number, in a mail about signing in: “codice evento 91274”
	listedWord     closeness = 2500 // it stands in a list of particulars: “Pune, PIN code 411014”
	compoundSilent closeness = 2000 // it ends an unknown compound, in a mail that is silent about signing in: “Farbcode”
	unknownBefore  closeness = 1000 // an unknown word stands before it: “zone code”; elsewhere only in a mail silent about signing in
	untiedSilent   closeness = 700  // nothing ties the number to it, in a mail that is silent about signing in
	untiedInside   closeness = 500  // and the sentence goes on behind the number
	otherNumbers   closeness = 1200 // such a mail names other numbers
)

// inheritance is what a number below the subject inherits from it.
func (s *scoring) inheritance() closeness {
	return [...]closeness{nameless: 0, weakName: subjectWord, codeName: subjectName}[s.subject.name]
}

// closenessOf says how closely one word names a candidate.
func (s *scoring) closenessOf(c *candidate, l nearWord, tie bool) closeness {
	says, far := s.strength(c, l, tie), s.farness(c, l, tie)
	switch {
	case says == 0, l.left && !tie && !c.lone && l.gap.Words > 0 && s.isOwnedByNumber(l.mark):
		return 0
	case tie && l.left && !s.hasLabel(c, l):
		return max(0, says-far*3/5+tiedWord)
	case l.left && l.gap.Words == 0 && s.endsLine(c):
		says += closingNumber
	}
	return max(0, says-far)
}

// strength is what a word says by itself, or 0 if it names something else.
func (s *scoring) strength(c *candidate, l nearWord, tie bool) closeness {
	m, g := &s.p.Marks[l.mark], l.gap
	switch {
	case m.Class&lexicon.Code != 0:
		return fullName
	case m.Class&(lexicon.Word|lexicon.Number) == 0: // for one use, whatever it is
		switch {
		case !l.left || g.Words > 3 || g.Sentences > 0:
			return 0
		case s.isOneTimeApproval(l.mark) && tie && g.Words == 0:
			return pairName
		case s.hasOwnerOf(l.mark, lexicon.Void):
			return 0
		}
		return onceName - s.silence(c, l, tie)
	case m.Class&(lexicon.Word|lexicon.Number) == lexicon.Number && (g.Words > 1 || g.figures > 0 || !s.isRequested(l.mark, c)):
		return 0
	case s.hasOwner(l.mark), c.around.isLastingPassword(m), m.Class&lexicon.Digits != 0 && c.around.auth+c.around.guard == 0 && !s.isRequested(l.mark, c):
		return 0
	case s.isBeside(l.mark, lexicon.Auth|lexicon.Once) && m.From > m.Start: // of a compound with an unknown beginning
		return wordName - s.silence(c, l, tie)
	case s.isBeside(l.mark, lexicon.Auth|lexicon.Once):
		return pairName - s.silence(c, l, tie)
	case s.hasPurpose(l.mark):
		return aimedName - s.silence(c, l, tie)
	}
	return wordName - s.strangeness(c, l, tie) - s.silence(c, l, tie)
}

// strangeness is what a weak word loses to the words around it that make it the
// name of another code.
func (s *scoring) strangeness(c *candidate, l nearWord, tie bool) closeness {
	loss := s.unknownWord(c, l.mark)
	if !l.left {
		return loss
	}
	if c.around.auth+c.around.guard > 0 {
		if l.gap.Words <= 2 && !s.orderedBefore(l.mark) && !s.hasNoLabel(c) && s.hasQualifier(l.mark, c) {
			loss += otherCode
		}
		return loss
	}
	if c.around.isSilent() && s.hasQualifier(l.mark, c) {
		loss += nounBetween
	}
	if !tie && s.isListItem(l.mark) {
		loss += listedWord
	}
	return loss
}

// silence is what a weak word loses in a mail that does not speak of signing in:
// if no colon or "is" ties the number to it, and if the mail names other numbers. A noun
// in the subject alone may be the name of the service, and takes nothing from a word to
// which the number is tied.
func (s *scoring) silence(c *candidate, l nearWord, tie bool) (loss closeness) {
	if !c.around.isSilent() || s.subject.name > nameless {
		return 0
	}
	if !tie && !c.lone && page.At(s.p.Low, c.start-1) != page.CellBreak {
		loss += untiedSilent
		if !s.endsLine(c) {
			loss += untiedInside
		}
	}
	if c.around.not > 0 && (c.around.textNouns || !tie) && !s.isRequested(l.mark, c) {
		loss += otherNumbers
	}
	return loss
}

// farness is what stands between a word and a number.
func (s *scoring) farness(c *candidate, l nearWord, tie bool) closeness {
	words, sentences, hard, soft := l.gap.Words-s.namesBetween(c, l), l.gap.Sentences, l.gap.Hard, l.gap.Soft
	all := closeness(l.gap.numbers) * rival
	switch {
	case l.left && c.lone: // sentences and breaks may lead up to a number alone on its line
	case l.left:
		all += closeness(words)*wordBefore + closeness(sentences)*sentence + closeness(hard)*hardBreak + closeness(soft)*softBreak
		if !tie {
			all += closeness(max(0, words-3)) * farWord
		}
	case l.gap.Words == 0 && sentences+hard == 0 && (soft == 0 || c.lone): // “482913 code”
	default:
		breaks := closeness(hard)*hardAfter + closeness(soft)*softAfter
		if c.lone {
			breaks = max(0, breaks-hardAfter)
		}
		all += behind + closeness(words)*wordBehind + closeness(sentences)*sentenceAfter + breaks
	}
	return all
}
