package score

import (
	"unicode"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// What is left of numbers that are not shown in full, and endings of words.

// maxShown is how many digits of a card or account number are shown, mostly.
const maxShown = 4

// isMasked reports whether stars, dots or crosses stand for the digits before a few:
// *4471, **** 4471, XXXX 4471. On both sides they are ornaments.
func (s *scanner) isMasked(start, end int) bool {
	if s.countDigits(start, end) > maxShown || isMaskSign(page.At(s.low, end)) || page.At(s.low, end) == ' ' && isMaskSign(page.At(s.low, end+1)) {
		return false
	}
	i := start - 1
	switch a, b := page.At(s.low, i), page.At(s.low, i-1); {
	case a == '.':
		return b == '.'
	case isMaskSign(a):
		return true
	case a == ' ' || a == '-':
		return (isMaskSign(b) || b == 'x') && page.At(s.low, i-2) == b
	}
	return false
}

// countDigits counts the digits of a number in groups.
func (s *scanner) countDigits(start, end int) (n int) {
	for _, r := range s.low[start:end] {
		if page.IsDigit(r) {
			n++
		}
	}
	return n
}

// isMaskSign reports whether r stands for a digit that is not shown.
func isMaskSign(r rune) bool {
	switch r {
	case '*', '•', '…', '×', '●', '█':
		return true
	}
	return false
}

// hasCrosses reports whether crosses stand for most of a number: 98XXXXXX21.
func (s *scanner) hasCrosses(start, stop int) bool {
	run := 0
	for _, r := range s.low[start:stop] {
		if run++; r != 'x' {
			run = 0
		}
		if run == 3 {
			return true
		}
	}
	return false
}

// hasEnding reports whether the ending of a case or a verb follows, in small letters:
// "482913-dır", "482913-as", "482913-t".
func (s *scanner) hasEnding(i int) bool {
	end := i
	for end < len(s.low) && s.p.Kind[end]&page.Spaced != 0 && !unicode.IsUpper(s.p.Raw[end]) && end-i <= 5 {
		end++
	}
	return end > i && end-i <= 5 && !page.IsDigit(page.At(s.low, end))
}

// hasStars reports whether two stars or more stand for the digits before a few, parted
// from them as it may be, or after a number: "HR** **** 4471", "0151/*** 4718".
// Those of "*** 482913 ***" adorn it.
func (s *scanner) hasStars(start, end int) bool {
	i, j := s.skipStars(start, -1), s.skipStars(end, 1)
	return i < start && j == end && s.low[i-1] >= ' ' && s.countDigits(start, end) <= maxShown || j > end && i == start && page.IsDigit(page.At(s.low, j))
}

// skipStars goes over stars, and a space on either side of them, in one direction. It
// returns where it comes to, or where it began if there are no two or what they
// stand beside is no part of the line.
func (s *scanner) skipStars(from, step int) int {
	i, n := from, 0
	if step < 0 {
		i--
	}
	for ; i > 0 && i < len(s.low); i += step {
		switch s.low[i] {
		case '*', '•', '●', '█', '×', '·', '#':
			n++
			continue
		case '…':
			n += 2
			continue
		case ' ', '-', '.', '/', '(', ')':
			continue
		}
		break
	}
	if n < 2 || i <= 0 {
		return from
	}
	if step < 0 {
		i++
	}
	return i
}
