package score

import (
	"github.com/gonebox/gonebox/internal/otp/page"
)

// word reads letters, or letters and digits, with what hyphens join to them:
// G-123456, X7K9P2, ABC-DEF.
func (s *scanner) word(start, end int) {
	stop, groups := end, 1
	for page.At(s.low, stop) == '-' && page.IsAlnum(page.At(s.low, stop+1)) {
		stop = s.run(stop + 1)
		groups++
	}
	s.i = stop
	if s.letterBeyond(start, stop) {
		return
	}
	c := candidate{start: start, end: stop, kind: Alphanumeric, groups: groups}
	digits, upper, lower := s.count(start, stop)
	c.size = digits + upper + lower
	c.upper = lower == 0
	c.letters = digits == 0
	if s.iban(start, end) {
		return
	}
	if c.size < page.MinCode || c.size > maxCode+2 || groups > 3 {
		return
	}
	if digits > 0 && page.IsDigit(s.low[start]) && groups == 1 && s.isOrdinal(start, stop) {
		return
	}
	if c.letters && !s.isCodeLike(&c, upper, lower) {
		return
	}
	switch a, b := page.At(s.low, start-1), page.At(s.low, stop); {
	case s.isPlaceholder(&c):
		c.veto = aPlaceholder
	case s.isItalic(start, stop):
	case a == '-' && page.IsDigit(page.At(s.low, start-2)):
		c.veto = ofNumber
	case digits > 0 && s.hasCrosses(start, stop):
		c.veto = aCard
	case a == '_' || b == '_' || a == '@' || b == '@' || a == '/' && start >= 2 && s.low[start-2] > ' ' || a == '.' && page.IsAlnum(page.At(s.low, start-2)) ||
		b == '.' && page.IsAlnum(page.At(s.low, stop+1)) || b == '/' && page.IsAlnum(page.At(s.low, stop+1)) || a == '*' && page.At(s.low, start-2) == '*' && b != '*':
		c.veto = ofName
	case a == '&' || b == '=' || a == '=' && page.IsAlnum(page.At(s.low, start-2)):
		c.veto = ofAddress
	}
	c.small = digits > 0 && upper == 0 && groups == 1 && c.size >= 5 && c.size <= maxSmall && s.changes(start, stop)
	c.mixed = digits > 0 && c.upper && c.size >= 5 && s.changes(start, stop) && !s.isPromotion(&c)
	c.form = s.wordForm(&c, digits)
	s.add(c)
}

// maxSmall is how many small letters and digits a code has at most.
const maxSmall = 10

// letterBeyond reports whether the run is part of a word with other letters.
func (s *scanner) letterBeyond(start, stop int) bool {
	return s.p.Letters.ClassOf(page.At(s.low, start-1)) == page.Spaced || s.p.Letters.ClassOf(page.At(s.low, stop)) == page.Spaced
}

func (s *scanner) count(start, stop int) (digits, upper, lower int) {
	for i := start; i < stop; i++ {
		switch r := s.p.Letters.Plain(s.p.Raw[i]); {
		case page.IsDigit(r):
			digits++
		case r >= 'A' && r <= 'Z':
			upper++
		case page.IsLetter(r):
			lower++
		}
	}
	return digits, upper, lower
}

// isOrdinal recognises 10min, 24h, 2nd: digits with a short lower-case tail.
func (s *scanner) isOrdinal(start, stop int) bool {
	i := start
	for i < stop && page.IsDigit(s.low[i]) {
		i++
	}
	for j := i; j < stop; j++ {
		if !page.IsLetter(s.p.Raw[j]) {
			return false
		}
	}
	return true
}

// isCodeLike reports whether letters alone may be a code: capitals, in groups or
// not, or capitals in the middle of a word.
func (s *scanner) isCodeLike(c *candidate, upper, lower int) bool {
	if upper == 0 || c.size > maxCode {
		return false
	}
	if lower == 0 {
		return c.groups == 1 || c.groups <= 3 && s.evenGroups(c)
	}
	inner := 0
	for i := c.start + 1; i < c.end; i++ {
		if r := s.p.Raw[i]; r >= 'A' && r <= 'Z' && page.IsLetter(s.low[i-1]) {
			inner++
		}
	}
	return inner >= 2 && c.groups == 1
}

func (s *scanner) evenGroups(c *candidate) bool {
	want, n := -1, 0
	for i := c.start; i <= c.end; i++ {
		if i < c.end && s.low[i] != '-' {
			n++
			continue
		}
		if want >= 0 && n != want {
			return false
		}
		want, n = n, 0
	}
	return true
}

func (s *scanner) wordForm(c *candidate, digits int) form {
	switch {
	case s.isPrefixed(c):
		return prefixed
	case s.isChosenPassword(c):
		return chosenPassword
	case digits > 0 && s.isPromotion(c):
		return wordAndNumber
	case c.letters && c.groups > 1:
		return oddlyGrouped
	case c.letters:
		return lettersAlone
	case c.upper && c.size >= 5 && c.size <= 8:
		return fiveToEight
	case c.upper:
		return fewerOrMore
	}
	return withSmall
}

// isChosenPassword recognises a password made of a word and a number: Winter4821.
func (s *scanner) isChosenPassword(c *candidate) bool {
	i := c.start + 1
	for i < c.end && page.IsLetter(s.p.Raw[i]) && s.p.Raw[i] >= 'a' {
		i++
	}
	letters := i - c.start
	for i < c.end && page.IsDigit(s.low[i]) {
		i++
	}
	return letters >= 3 && i == c.end && page.IsLetter(s.low[c.start]) && s.p.Raw[c.start] <= 'Z'
}

// changes reports whether digits and letters change places more than once, or a
// hyphen parts what is not a prefix and a number: 8WD5M, H7X2Q, TQ7-41.
func (s *scanner) changes(start, stop int) bool {
	n, last := 0, page.IsDigit(s.low[start])
	for _, r := range s.low[start:stop] {
		if d := page.IsDigit(r); r != '-' && d != last {
			n, last = n+1, d
		}
	}
	return n > 1 || n == 1 && stop-start <= 7
}

// isPrefixed recognises G-123456: up to four capitals, a hyphen, digits.
func (s *scanner) isPrefixed(c *candidate) bool {
	if c.groups != 2 || !c.upper {
		return false
	}
	i := c.start
	for page.IsLetter(s.low[i]) {
		i++
	}
	if i == c.start || i > c.start+4 || s.low[i] != '-' {
		return false
	}
	for _, r := range s.low[i+1 : c.end] {
		if !page.IsDigit(r) {
			return false
		}
	}
	return c.end-i > page.MinCode && c.end-i <= 9
}

// iban passes over an international account number: two letters, two digits,
// groups of four.
func (s *scanner) iban(start, end int) bool {
	if end-start != 4 || !page.IsLetter(s.low[start]) || !page.IsLetter(s.low[start+1]) || !page.IsDigit(s.low[start+2]) || !page.IsDigit(s.low[start+3]) {
		return false
	}
	i, groups := end, 0
	for page.At(s.low, i) == ' ' && page.IsAlnum(page.At(s.low, i+1)) {
		j := s.run(i + 1)
		if j-i > 5 || j-i < 5 && groups < 2 {
			break
		}
		i, groups = j, groups+1
	}
	if groups < 2 {
		return false
	}
	s.add(candidate{start: start, end: i, kind: Alphanumeric, size: i - start, veto: anAccount})
	return true
}

// isPromotion recognises a word with a discount at its end: SPRING30, WELCOME5.
func (s *scanner) isPromotion(c *candidate) bool {
	i := c.start
	for i < c.end && page.IsLetter(s.low[i]) {
		i++
	}
	tail := c.end - i
	year := tail == 4 && i-c.start >= 3 && s.isYear(i)
	if c.groups > 1 || !year && (i-c.start < 4 || tail > 2) {
		return false
	}
	for _, r := range s.low[i:c.end] {
		if !page.IsDigit(r) {
			return false
		}
	}
	return true
}

// boxes reads capitals and digits that each stand in a cell or box of their own, or on
// a line of their own. Digits alone are read by group.
func (s *scanner) boxes(start int) bool {
	stop, size, digits, changes := start, 0, 0, 0
	for i := start; i < len(s.low) && page.IsAlnum(s.low[i]) && size < page.MaxLone; {
		r := s.p.Raw[i]
		if r >= 'a' && r <= 'z' || page.IsAlnum(page.At(s.low, i+1)) {
			break
		}
		if page.At(s.low, i+1) == ' ' && s.p.Letters.ClassOf(page.At(s.low, i+2)) != page.Other {
			break // a word of a sentence
		}
		d := page.IsDigit(s.low[i])
		if size > 0 && d != page.IsDigit(s.low[stop-1]) {
			changes++
		}
		if d {
			digits++
		}
		size, stop = size+1, i+1
		sep, next := s.separator(stop, 1)
		if next == 0 && page.At(s.low, stop) != 0 {
			sep, next = s.boxBreak(stop)
		}
		if next == 0 || sep != '\t' {
			break
		}
		i = next
	}
	switch {
	case size < page.MinCode || digits == size || s.letterBeyond(start, stop):
		return false
	case size > maxCode: // no part of it is a code
		s.i = stop
		return true
	}
	s.add(candidate{start: start, end: stop, kind: Alphanumeric, size: size, upper: true, letters: digits == 0, mixed: digits > 0 && changes > 0 && size > page.MinCode, boxed: true, form: inBoxes})
	return true
}

// boxBreak reads the breaks and sides of boxes between two letters, and returns where
// the next one stands, or 0.
func (s *scanner) boxBreak(i int) (sep rune, next int) {
	for j := i; j < len(s.low) && j-i < 4; j++ {
		switch r := s.low[j]; {
		case page.IsAlnum(r) && j > i:
			return sep, j
		case r == ' ':
		case r == page.CellBreak, r == page.SoftBreak, r == page.HardBreak, isBoxSide(r):
			sep = page.CellBreak
		default:
			return 0, 0
		}
	}
	return 0, 0
}
