package score

import (
	"unicode"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// number reads a run of digits: by itself, as one of a group, or as part of a
// date, a price, a phone number.
func (s *scanner) number(start, end int) {
	if glued := s.skipGlued(start, end); glued > 0 {
		s.i = glued
		return
	}
	if s.ordinalOf(start, end) {
		s.i = end
		return
	}
	if stop := s.dottedEnd(start, end); stop > 0 {
		digits := stop - start - (stop-start)/(end-start+1)
		s.add(candidate{start: start, end: stop, kind: Numeric, size: digits, groups: 2, pointed: true, form: oddlyGrouped, veto: s.around(start, stop)})
		return
	}
	if why, stop := s.figure(start, end); stop > 0 {
		s.reject(start, stop, why)
		return
	}
	if s.group(start, end) || s.halves(start, end) {
		return
	}
	word, found := s.pieces(start, end)
	if found {
		return
	}
	n := end - start
	if n < page.MinCode {
		s.i = end
		return
	}
	c := candidate{start: start, end: end, kind: Numeric, size: n, counted: word}
	switch {
	case n > maxCode:
		c.veto = tooLong
	default:
		c.veto = s.around(start, end)
	}
	s.readForm(&c)
	s.add(c)
}

// skipGlued passes over digits that are part of a word in a spaced script.
func (s *scanner) skipGlued(start, end int) int {
	if start > 0 && s.p.Letters.ClassOf(s.low[start-1]) == page.Spaced && end-start < page.MinCode {
		return end
	}
	return 0
}

func (s *scanner) reject(start, end int, why string) {
	if end-start < page.MinCode {
		s.i = end
		return
	}
	s.add(candidate{start: start, end: end, kind: Numeric, size: end - start, veto: why})
}

// figure recognises digits joined by points, commas, colons and slashes:
// dates, times, prices, versions, IP addresses. It returns where they end.
func (s *scanner) figure(start, end int) (why string, stop int) {
	stop = end
	for {
		j := stop
		if s.isClauseEnd(start, j) {
			break
		}
		if j < len(s.low) && (s.low[j] == '.' || s.low[j] == ',' || s.low[j] == ':' || s.low[j] == '/' || s.low[j] == '\'' || s.low[j] == '٬' || s.low[j] == '٫') &&
			j+1 < len(s.low) && page.IsDigit(s.low[j+1]) {
			why = aFigure
			stop = s.run(j + 1)
			continue
		}
		break
	}
	if why == "" {
		if stop = s.dashedDate(start, end); stop > 0 {
			return aDate, stop
		}
		return "", 0
	}
	return why, stop
}

// isClauseEnd reports whether a comma ends a clause: after more than three digits it
// parts no thousands. It is full-width, or a number with a counter of a script
// without spaces follows, as in 123456,3分钟.
func (s *scanner) isClauseEnd(start, i int) bool {
	if i-start < page.MinCode {
		return false
	}
	if page.At(s.p.Raw, i) == '，' {
		return true
	}
	if page.At(s.low, i) != ',' || !page.IsDigit(page.At(s.low, i+1)) {
		return false
	}
	end := s.run(i + 1)
	r := page.At(s.low, end)
	return end-i <= 3 && s.p.Letters.ClassOf(r) == page.Dense && r != '元' && r != '円' && r != '圆' && r != '圓' && r != '块' && r != '塊'
}

// dashedDate recognises 2026-05-31, 31-05-2026 and 2024-2026.
func (s *scanner) dashedDate(start, end int) int {
	var ns [4]int
	ns[0] = end - start
	k, stop := 1, end
	for k < 4 && stop+1 < len(s.low) && s.low[stop] == '-' && page.IsDigit(s.low[stop+1]) {
		j := stop + 1
		for j < len(s.low) && page.IsDigit(s.low[j]) {
			j++
		}
		ns[k] = j - stop - 1
		k, stop = k+1, j
	}
	switch {
	case k == 3 && ns[0] == 4 && ns[1] == 2 && ns[2] == 2, k == 3 && ns[0] <= 2 && ns[1] <= 2 && ns[2] == 4:
		return stop
	case k == 2 && ns[0] == 4 && ns[1] == 4 && s.isYear(start) && s.isYear(end+1):
		return stop
	}
	return 0
}

// isYear reports whether four digits read as a year of our time.
func (s *scanner) isYear(i int) bool {
	if i+4 > len(s.low) {
		return false
	}
	a, b := s.low[i], s.low[i+1]
	return a == '2' && b == '0' || a == '1' && b == '9'
}

// otherYear reports whether four digits read as a year of our time in the calendar
// that goes with the script before them: Buddhist, Persian or Islamic, Hebrew.
func (s *scanner) otherYear(i int) bool {
	a, b, c := s.low[i], s.low[i+1], s.low[i+2]
	i--
	if page.At(s.low, i) == ' ' {
		i--
	}
	r := page.At(s.low, i)
	if r == '.' { // of an abbreviated month or era
		r = page.At(s.low, i-1)
	}
	switch {
	case unicode.Is(unicode.Thai, r):
		return a == '2' && b == '5' && c >= '5' && c <= '8'
	case unicode.Is(unicode.Arabic, r):
		return a == '1' && (b == '4' && c <= '5' || b == '3' && c >= '7')
	case unicode.Is(unicode.Hebrew, r):
		return a == '5' && b == '7' && c >= '7'
	}
	return false
}

// around looks at the runes that touch a number.
func (s *scanner) around(start, end int) string {
	a, b := page.At(s.low, start-1), page.At(s.low, end)
	a2, b2 := page.At(s.low, start-2), page.At(s.low, end+1)
	switch {
	case a == '+':
		return aPhone
	case (a == '.' || a == ',' || a == ':' || a == '/' || a == '-') && page.IsDigit(a2):
		return aFigure
	case s.isMasked(start, end):
		return aCard
	case page.IsCurrency(a), a == ' ' && page.IsCurrency(a2), page.IsCurrency(b), b == ' ' && page.IsCurrency(b2) && !isPrefixCurrency(b2):
		return anAmount
	case b == '%' || b == '°' || b == '‰' || b == ' ' && b2 == '%':
		return aMeasure
	case s.isItalic(start, end):
		return ""
	case a == '.' && page.IsLetter(a2), a == '/' && page.IsAlnum(a2), a == '_', b == '_', a == '=' && page.IsAlnum(a2) && !s.isAssigned(start), a == '&':
		return ofName
	case b == '#':
		return dialledNumber
	case b == '@':
		return ofAddress
	case s.hasStars(start, end):
		return aCard
	case a == '-' && page.IsLetter(a2), b == '-' && page.IsAlnum(b2) && !s.hasEnding(end+1), b == '/' && page.IsAlnum(b2):
		return ofNumber
	}
	return ""
}

// isItalic reports whether lines below are around something, which programs write for
// italics in a plain text: "_482913_".
func (s *scanner) isItalic(start, end int) bool {
	return page.At(s.low, start-1) == '_' && page.At(s.low, end) == '_' && !page.IsAlnum(page.At(s.low, start-2)) && !page.IsAlnum(page.At(s.low, end+1))
}

// isAssigned reports whether a name and an equals sign before a number stand by
// themselves, as in a note of a program, and not in an address: "OTP=482913;".
func (s *scanner) isAssigned(start int) bool {
	i := start - 2
	for i >= 0 && (page.IsAlnum(s.low[i]) || s.low[i] == '_') {
		i--
	}
	switch page.At(s.low, i) {
	case 0, ' ', page.SoftBreak, page.HardBreak, page.CellBreak, ';', ',', '|', '[', '(', '{':
		return true
	}
	return false
}

// isAmount reports whether a figure has the two decimals of an amount of money, which
// a time or date does not have: 48,20 and 1.048.20.
func (p *Reading) isAmount(c *candidate) bool {
	i := c.end - 3
	if i <= c.start || !page.IsDigit(p.Low[i+1]) || !page.IsDigit(p.Low[i+2]) || page.IsDigit(page.At(p.Low, c.end)) {
		return false
	}
	return p.Low[i] == ',' || p.Low[i] == '.' && i-c.start >= 3 && page.IsDigit(p.Low[i-3]) && page.IsDigit(p.Low[i-2]) && page.IsDigit(p.Low[i-1])
}

// isPrefixCurrency reports whether r is a sign that stands before its amount, so that one
// after a space belongs to the next number.
func isPrefixCurrency(r rune) bool { return r == '$' || r == '£' || r == '¥' || r == '₹' }

// isSequence recognises the digits of an example: 1234, 123456, 0000.
func isSequence(d []rune) bool {
	up, same := true, true
	for i := 1; i < len(d); i++ {
		up = up && d[i] == d[i-1]+1
		same = same && d[i] == d[i-1]
	}
	return up || same
}

// readForm notes how digits in one run are written.
func (s *scanner) readForm(c *candidate) {
	d := s.low[c.start:c.end]
	c.form = digitForms[min(len(d), maxCode)]
	c.year = len(d) == 4 && (s.isYear(c.start) || s.otherYear(c.start))
	c.example = isSequence(d)
	zeros := 0
	for k := len(d) - 1; k >= 0 && d[k] == '0'; k-- {
		zeros++
	}
	c.zeros = zeros >= 3 && !c.example
}
