package score

// A form is how a candidate is written.
type form uint8

// The forms. Each has a row of its own (formRows in weigh.go).
const (
	irregular form = iota // groups that say nothing: 48-29, 5582 013
	fourDigits
	fiveDigits
	sixDigits
	sevenDigits
	eightDigits
	tenDigits      // 9 and 10
	evenGroups     // 4829 1348, 48 29 13
	digitByDigit   // 4 8 2 9 1 3
	inBoxes        // one digit, capital letter or mix of both to a cell
	twoThrees      // 482 913
	oddlyGrouped   // 482.913, 719-25, 21-11-26, ABC-DEF, more than eight digits
	unevenlyEnded  // 482-9137, 482 913 48, 4829 13
	prefixed       // G-482913
	chosenPassword // Winter4821
	wordAndNumber  // SPRING30
	lettersAlone   // KXPQ, aBcDeF
	fiveToEight    // capitals and digits: K7P2XD
	fewerOrMore    // capitals and digits
	withSmall      // small letters and digits: k7p2xd
)

// digitForms are the forms of numbers, by their digits. Longer ones have a veto.
var digitForms = [...]form{4: fourDigits, 5: fiveDigits, 6: sixDigits, 7: sevenDigits, 8: eightDigits, 9: tenDigits, 10: tenDigits}

// A likeness is how much a candidate looks like a code.
type likeness uint8

const (
	unlikely likeness = iota // a word has to name it
	doubtful
	possible
	likely // as most codes
	typical
)

// likenesses of the forms.
var likenesses = [...]likeness{
	irregular: possible, fourDigits: likely, fiveDigits: likely, sixDigits: typical, sevenDigits: doubtful, eightDigits: possible,
	evenGroups: likely, digitByDigit: typical, inBoxes: typical, twoThrees: typical, unevenlyEnded: possible, prefixed: typical,
	fiveToEight: possible, fewerOrMore: doubtful, withSmall: unlikely,
}

// likeness says how much a candidate looks like a code by itself. What the digits of an
// example lose is given back where something names them, and what looks like a
// promotion is as good as others then.
func (c *candidate) likeness() likeness {
	l := likenesses[c.form]
	switch {
	case c.excused && c.form == wordAndNumber:
		return possible
	case c.example && !c.excused:
		switch c.form {
		case inBoxes:
			return possible
		case digitByDigit:
			return doubtful
		}
		return unlikely
	case c.year:
		return unlikely
	case c.zeros: // two steps less
		return max(l, possible) - possible
	}
	return l
}
