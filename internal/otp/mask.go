package otp

import "unicode"

// What is written right up to a number: stars for digits that are not shown, and
// endings of words.

// ending says whether the ending of a case or a verb follows, in small letters:
// "482913-dır", "482913-as", "482913-t".
func (s *scanner) ending(i int) bool {
	end := i
	for end < len(s.low) && s.p.kind[end]&spaced != 0 && !unicode.IsUpper(s.p.raw[end]) && end-i <= 5 {
		end++
	}
	return end > i && end-i <= 5 && !isDigit(at(s.low, end))
}

// starred says whether two stars or more stand for the digits before a few, parted
// from them as it may be, or after a number: "HR** **** 4471", "0151/*** 4718".
// Those of "*** 482913 ***" adorn it.
func (s *scanner) starred(start, end int) bool {
	i, j := s.stars(start, -1), s.stars(end, 1)
	return i < start && j == end && s.low[i-1] >= ' ' && s.shown(start, end) <= maxShown || j > end && i == start && isDigit(at(s.low, j))
}

// stars goes over stars, and a space on either side of them, in one direction. It
// answers where it comes to, or where it began if there are no two or what they
// stand beside is no part of the line.
func (s *scanner) stars(from, step int) int {
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
