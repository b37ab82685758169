package otp

// What is left of numbers that are not shown in full.

// maxShown is how many digits of a card or account number are shown, mostly.
const maxShown = 4

// masked says whether stars, dots or crosses stand for the digits before a few:
// *4471, **** 4471, XXXX 4471. On both sides they are ornaments.
func (s *scanner) masked(start, end int) bool {
	if s.shown(start, end) > maxShown || masks(at(s.low, end)) || at(s.low, end) == ' ' && masks(at(s.low, end+1)) {
		return false
	}
	i := start - 1
	switch a, b := at(s.low, i), at(s.low, i-1); {
	case a == '.':
		return b == '.'
	case masks(a):
		return true
	case a == ' ' || a == '-':
		return (masks(b) || b == 'x') && at(s.low, i-2) == b
	}
	return false
}

// shown counts the digits of a number in groups.
func (s *scanner) shown(start, end int) (n int) {
	for _, r := range s.low[start:end] {
		if isDigit(r) {
			n++
		}
	}
	return n
}

// masks is true of the signs that stand for a digit that is not shown.
func masks(r rune) bool {
	switch r {
	case '*', '•', '…', '×', '●', '█':
		return true
	}
	return false
}

// crossed says whether crosses stand for most of a number: 98XXXXXX21.
func (s *scanner) crossed(start, stop int) bool {
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
