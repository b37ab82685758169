package score

import (
	"unicode"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// Postal addresses. Senders of many countries must put theirs below a mail, and
// the number of its town has the shape of a code.

// The bounds of an address.
const (
	addressSegments = 4  // on one side of its postal code
	addressReach    = 80 // runes of a segment
	addressWords    = 5  // of a segment
	maxHouse        = 5  // digits of the number of a house or a box
)

// findAddresses rules out the numbers of those whom mails are addressed to, and the
// postal codes of addresses, whose lines it puts in the footer where there is no
// other number on them.
func (s *scoring) findAddresses() {
	for k := range s.cs {
		switch c := &s.cs[k]; {
		case c.veto != "":
		case s.hasShortGroup(c):
			c.veto = aPiece
		case s.inSalutation(c):
			c.veto = ofPerson
		case s.isPostalCode(c):
			c.veto = aPostalCode
			if (k == 0 || s.cs[k-1].line != c.line) && (k+1 == len(s.cs) || s.cs[k+1].line != c.line) {
				l := &s.p.Lines[c.line]
				l.Foot, l.FootAt = true, l.Start
			}
		}
	}
}

// isPostalCode reports whether a number is the postal code of an address: it stands beside
// the name of a town in a segment of its own, and in another stands the number of
// a house: "Acme Ltd, 12 Harbour Street, 90210 Springfield".
func (s *scoring) isPostalCode(c *candidate) bool {
	if c.kind != Numeric || c.size > 6 || c.pointed || s.isPlainWord(c.end) {
		return false
	}
	from, to := s.segment(c.start, -1), s.segment(c.end, 1)
	if digits, names := s.segmentOf(from, to, false); digits != c.size || names == 0 {
		return false
	}
	// Behind it, "USA" is no order in Italian.
	return !s.hasCodeWord(from, c) && (s.hasHouse(from-1, -1) || s.hasHouse(to+1, 1))
}

// isPlainWord reports whether a space and a word in small letters are at a place, which is no
// name and too long to be a small word between names. That is so behind most numbers.
func (s *scoring) isPlainWord(i int) bool {
	const small = 3
	return page.At(s.p.Low, i) == ' ' && s.p.LettersEnd(i+1)-i-1 > small && !unicode.IsUpper(s.p.Raw[i+1])
}

// hasCodeWord reports whether a word for a code, or one that leads to a number, stands
// between a place and the candidate.
func (s *scoring) hasCodeWord(from int, c *candidate) bool {
	for i := s.p.MarkFrom(from, c.mark); i < c.mark; i++ {
		if s.p.Marks[i].Class&(lexicon.Code|lexicon.Word|lexicon.Use|lexicon.Is) != 0 {
			return true
		}
	}
	return false
}

// inSalutation reports whether a number ends the line with which a mail begins, and a comma
// is behind it: "Dear Customer 20775318,".
func (s *scoring) inSalutation(c *candidate) bool {
	l := &s.p.Lines[c.line]
	if l.Part == page.InSubject || c.line > 1 && s.p.Lines[c.line-2].Part == l.Part || c.end != l.End-1 || s.p.Low[c.end] != ',' {
		return false
	}
	return !c.lone && !s.hasCodeWord(l.Start, c)
}

// hasHouse reports whether the segments on one side of a place name a house as addresses
// do: a street with a number, in one segment or in two.
func (s *scoring) hasHouse(i, step int) bool {
	number := false
	for range addressSegments {
		if i <= 0 || i >= len(s.p.Low) {
			return false
		}
		end := s.segment(i, step)
		from, to := min(i, end), max(i, end)
		switch digits, names := s.segmentOf(from, to, true); {
		case names > 0 && (number || digits > 0 && digits <= maxHouse):
			return true
		case names == 0 && digits > 0 && digits <= maxHouse:
			number = true
		case names == 0 && to > from:
			return false
		}
		i = end + step
	}
	return false
}

// segment is where the segment of an address ends that goes on from a place in
// one direction, or how far one goes at most.
func (s *scoring) segment(i, step int) int {
	end := i
	if step < 0 {
		for end > max(0, i-addressReach) && !s.p.isSegmentEnd(end-1) {
			end--
		}
	} else {
		for end < min(len(s.p.Low), i+addressReach) && !s.p.isSegmentEnd(end) {
			end++
		}
	}
	s.p.Steps += max(i, end) - min(i, end)
	return end
}

// isSegmentEnd reports whether a rune parts the segments of an address. No letter or digit does,
// of which they mostly consist.
func (p *Reading) isSegmentEnd(i int) bool {
	return p.Kind[i]&page.ScriptBits == page.Other && isSegmentSign(p.Low, i)
}

// isSegmentSign reports whether a sign or space does.
func isSegmentSign(low []rune, i int) bool {
	switch low[i] {
	case ',':
		return !page.IsDigit(page.At(low, i-1)) || !page.IsDigit(page.At(low, i+1))
	case ';', '·', '|', '•', '⋅', '∙', '・', page.SoftBreak, page.HardBreak, page.CellBreak:
		return true
	case '-':
		return page.At(low, i-1) == ' ' && page.At(low, i+1) == ' '
	}
	return false
}

// segmentOf counts the digits and the names of a segment, of which there is
// nothing else but small words between names, and labels where there may be any.
// Otherwise it returns none.
func (s *scoring) segmentOf(from, to int, labels bool) (digits, names int) {
	words := 0
	for i := from; i < to; {
		if s.p.Low[i] == ' ' {
			i++
			continue
		}
		end := i
		for end < to && s.p.Low[end] != ' ' {
			end++
		}
		if words++; words > addressWords || end-i > page.MaxWord {
			return 0, 0
		}
		switch r := s.p.Raw[i]; {
		case page.IsDigit(s.p.Low[i]):
			for k, d := range s.p.Low[i:end] {
				switch {
				case page.IsDigit(d):
					digits++
				case k == 0 || !page.IsLetter(d) && d != '-' && d != '/':
					return 0, 0
				}
			}
		case s.p.Low[end-1] == ':' && !labels:
			return 0, 0
		case unicode.IsUpper(r):
			names++
		case end-i > 3 || s.p.Kind[i]&page.Spaced == 0:
			return 0, 0
		}
		i = end
	}
	return digits, names
}
