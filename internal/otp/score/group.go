package score

import (
	"sort"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// group reads a chain of digit runs: 123 456, 123-456, 1 2 3 4 5 6, one digit
// to a cell. It returns false when the number stands by itself.
func (s *scanner) group(start, end int) bool {
	n := end - start
	if n > 4 {
		return s.longChain(start, end)
	}
	sep, k := s.separator(end, n)
	if k == 0 {
		return false
	}
	even, total, stop, count := true, n, end, 1
	for {
		sp, j := s.separator(stop, n)
		if j == 0 || sp != sep && n > 1 {
			break
		}
		if sp != sep {
			sep = '\t'
		}
		e := j
		for e < len(s.low) && page.IsDigit(s.low[e]) {
			e++
		}
		if page.At(s.low, e) != 0 && page.IsLetter(s.low[e]) {
			break
		}
		if n == 1 && e-j != 1 && sep != '-' {
			break
		}
		even = even && e-j == n
		total, stop, count = total+e-j, e, count+1
	}
	if count == 1 {
		return false
	}
	if !even {
		return s.unevenChain(start, stop, sep, total)
	}
	if total < page.MinCode || n == 1 && count < page.MinCode {
		return false
	}
	c := candidate{start: start, end: stop, kind: Numeric, size: total, groups: count}
	switch {
	case total > maxCode:
		c.veto = tooLong
	case n == 4 && sep == '\t':
		return false
	case n == 2 && total == maxCode && s.low[start] == '0':
		c.veto = aPhone // 02 97 19 35 58
	case n == 1 && count == 5 && s.low[start] == '1' && s.isScale(start, count):
		c.veto = aScale
	default:
		c.veto = s.around(start, stop)
	}
	if c.boxed = n == 1 && sep == page.CellBreak; c.boxed && s.isGrid(start, stop) && c.veto == "" {
		c.veto = aGrid
	}
	c.form, c.example = s.groupForm(start, n, count, total, sep), n == 1 && s.isScale(start, count)
	s.add(c)
	return true
}

func (s *scanner) groupForm(start, n, count, total int, sep rune) form {
	switch {
	case n == 1 && sep == page.CellBreak:
		return inBoxes
	case n == 1:
		return digitByDigit
	case n == 3 && count == 2:
		return twoThrees
	case n == 2 && count == 3 && sep == ' ':
		return evenGroups
	case n == 2 && count > 3: // a telephone number, mostly
		return oddlyGrouped
	case n == 2 && sep == '-' && s.isPairDate(start):
		return oddlyGrouped
	case n == 2:
		return irregular
	case total > 8:
		return oddlyGrouped
	}
	return evenGroups
}

// isPairDate reports whether three pairs of digits may be a date: 21-11-26.
func (s *scanner) isPairDate(start int) bool {
	pair := func(i int) int { return int(page.At(s.low, start+i)-'0')*10 + int(page.At(s.low, start+i+1)-'0') }
	a, b, c := pair(0), pair(3), pair(6)
	month := func(n int) bool { return n >= 1 && n <= 12 }
	day := func(n int) bool { return n >= 1 && n <= 31 }
	return month(b) && (day(a) || day(c)) || month(a) && day(b)
}

// isGrid reports whether digits stand in several rows of several cells each.
func (s *scanner) isGrid(start, stop int) bool {
	rows, cells := false, false
	for i := start; i < stop; i++ {
		if page.IsDigit(s.low[i]) && i+1 < stop {
			row := false
			for j := i + 1; !page.IsDigit(s.low[j]); j++ {
				row = row || s.low[j] == page.HardBreak || s.low[j] == page.SoftBreak
			}
			rows, cells = rows || row, cells || !row
		}
	}
	return rows && cells
}

// isBoxSide reports whether a sign draws the side of a box: [4] [8] or │ 4 │ 8 │.
func isBoxSide(r rune) bool {
	switch r {
	case '[', ']', '|', '│', '┃', '║', '┆', '(', ')':
		return true
	}
	return false
}

// isScale recognises the scale of a survey: 1 2 3 4 5.
func (s *scanner) isScale(start, count int) bool {
	want := s.low[start]
	for i := start; count > 0; i++ {
		if !page.IsDigit(s.low[i]) {
			continue
		}
		if s.low[i] != want {
			return false
		}
		want++
		count--
	}
	return true
}

// separator reads what parts two runs of digits, and returns where the next
// one begins, or 0. Runs of one digit may stand on lines of their own.
func (s *scanner) separator(i, n int) (sep rune, next int) {
	j, sep := i, 0
	for j < len(s.low) && j-i < 4 {
		switch r := s.low[j]; {
		case page.IsDigit(r):
			if j == i {
				return 0, 0
			}
			return sep, j
		case r == ' ':
			if sep == 0 {
				sep = ' '
			}
		case r == '\t' && (sep == 0 || sep == ' ' || sep == '\t' && n == 1): // a dash has a cell of its own
			sep = '\t'
		case (r == page.SoftBreak || r == page.HardBreak) && n == 1:
			if sep == 0 || sep == ' ' {
				sep = '\t'
			}
		case n == 1 && isBoxSide(r), n == 1 && r == '-' && sep == '\t':
			sep = '\t'
		case (r == '-' || n == 1 && (r == '·' || r == '•')) && (sep == 0 || sep == ' '), r == '·' && j == i:
			sep = r
		default:
			return 0, 0
		}
		j++
	}
	return 0, 0
}

// unevenChain deals with runs of different lengths: phone and account numbers
// when they are many or hyphened, else numbers that happen to be neighbours.
func (s *scanner) unevenChain(start, stop int, sep rune, total int) bool {
	switch {
	case sep == ' ' && total == 8 && s.endsShort(start, stop):
		s.add(candidate{start: start, end: stop, kind: Numeric, size: total, groups: 3, form: unevenlyEnded, veto: s.around(start, stop)})
		return true
	case s.fourAndTwo(start, stop) && (sep == ' ' || sep == '-'):
		s.add(candidate{start: start, end: stop, kind: Numeric, size: total, groups: 2, form: unevenlyEnded, veto: s.around(start, stop)})
		return true
	case sep == '-' && total == 7 && stop-start == total+1 && s.low[start] != '0' && s.p.namedNear(start): // 482-9137
		s.add(candidate{start: start, end: stop, kind: Numeric, size: total, groups: 2, pointed: true, form: unevenlyEnded, veto: s.around(start, stop)})
		return true
	case total > maxCode, sep == '-' && total >= 7, sep == ' ' && total >= 9 && !s.hasRun(start, stop, 5):
		s.reject(start, stop, aPhoneOrAccount)
		return true
	case sep == '-' && total >= 5 && stop-start == total+1 && s.low[start] != '0':
		s.add(candidate{start: start, end: stop, kind: Numeric, size: total, groups: 2, pointed: true, form: oddlyGrouped, veto: s.around(start, stop)})
		return true
	case sep == '-':
		s.reject(start, s.skipPhoneGroups(start, stop), ofNumber)
		return true
	}
	return false
}

// pieces reads digits that spaces split into groups no other rule reads as one number:
// 5582 013, 55 8201, 5 582 013. Six to eight digits in groups of two to five are one
// candidate; any other chain is rejected as a whole, because one of its groups is never
// the code. It returns false for a number that stands by itself. Whether a short group
// in front of a word belongs to the number ("5582 01 is your code") or counts something
// ("482913 10 minutes") depends on that word: pieces returns where it begins.
func (s *scanner) pieces(start, end int) (word int, found bool) {
	stop, total, count, least, most := end, end-start, 1, end-start, end-start
	for {
		sep, from := s.separator(stop, 2)
		if from == 0 || sep != ' ' && sep != '·' {
			break
		}
		to := from
		for to < len(s.low) && page.IsDigit(s.low[to]) {
			to++
		}
		if s.hasUnitBehind(to) || s.hasYear(start, stop, from, to) {
			break
		}
		if (to-from <= 2 || to-from == 3 && total >= 6) && page.At(s.low, to) == ' ' && s.p.Letters.ClassOf(page.At(s.low, to+1))&(page.Spaced|page.Dense) != 0 {
			word = to + 1
			break
		}
		n := to - from
		stop, total, count, least, most = to, total+n, count+1, min(least, n), max(most, n)
	}
	switch {
	case count == 1 || total < page.MinCode:
		return word, false
	case least < 2 || most > 5 || total < 6 || total > 8 || count > 3:
		s.reject(start, stop, aPiece)
	default:
		how := irregular
		if count == 2 && total == 7 && s.p.namedNear(start) {
			how = unevenlyEnded // 482 9137
		}
		s.add(candidate{start: start, end: stop, kind: Numeric, size: total, groups: count, counted: word, form: how, veto: s.around(start, stop)})
	}
	return 0, true
}

// hasUnitBehind reports whether digits that end at to are no group of a code: a letter, a
// unit or the rest of a figure follows them.
func (s *scanner) hasUnitBehind(to int) bool {
	next, after := page.At(s.low, to), page.At(s.low, to+1)
	switch {
	case next == ' ':
		return page.IsCurrency(after)
	case s.p.Letters.ClassOf(next) != page.Other, next == '%', next == '°', page.IsCurrency(next):
		return true
	}
	return (next == '.' || next == ',' || next == ':' || next == '/') && page.IsDigit(after)
}

// hasYear reports whether one of two neighbouring numbers is a year and the other is long
// enough to be a code: 2026 482913.
func (s *scanner) hasYear(start, stop, from, to int) bool {
	return stop-start == 4 && s.isYear(start) && to-from >= 6 || to-from == 4 && s.isYear(from) && stop-start >= 6
}

// hasShortGroup reports whether the short group behind a candidate belongs to it: the word
// after that group is neither a unit nor the beginning of "valid for".
func (s *scoring) hasShortGroup(c *candidate) bool {
	if c.counted == 0 {
		return false
	}
	i := s.p.MarkFrom(c.counted, c.mark)
	return i == len(s.p.Marks) || s.p.Marks[i].Start != c.counted || s.p.Marks[i].Class&(lexicon.Unit|lexicon.Guard) == 0
}

// endsShort recognises eight digits in groups of three, the last one short:
// 123 456 78.
func (s *scanner) endsShort(start, stop int) bool {
	return stop-start == 10 && s.low[start+3] == ' ' && s.low[start+7] == ' '
}

// fourAndTwo recognises six digits in a group of four, which are no year, and
// one of two: 2311 16.
func (s *scanner) fourAndTwo(start, stop int) bool {
	if stop-start != 7 || page.IsDigit(s.low[start+4]) || !page.IsDigit(s.low[start+5]) {
		return false
	}
	century := s.low[start]*10 + s.low[start+1] - 11*'0'
	return century != 19 && century != 20
}

// longChain catches 12345-678901 and the like, which are no codes.
func (s *scanner) longChain(start, end int) bool {
	if next := s.run(end + 1); s.low[start] == '0' && end-start == 5 && page.At(s.low, end) == ' ' && next-end > 5 && page.IsDigit(page.At(s.low, end+1)) {
		s.reject(start, next, aPhone) // 07700 900188
		return true
	}
	if stop := s.skipPhoneGroups(start, end); end-start == 5 && stop-end >= 8 {
		s.reject(start, stop, aPhone) // 01223 496 118
		return true
	}
	if page.At(s.low, end) == '-' && page.IsDigit(page.At(s.low, end+1)) {
		stop := end
		for page.At(s.low, stop) == '-' && page.IsDigit(page.At(s.low, stop+1)) {
			stop = s.run(stop + 1)
		}
		if half := end - start; half == 5 && stop-start == 11 {
			s.add(candidate{start: start, end: stop, kind: Numeric, size: 10, groups: 2, form: oddlyGrouped})
			return true
		}
		s.reject(start, stop, ofNumber)
		return true
	}
	return false
}

// skipPhoneGroups goes on over the groups of two to four digits that follow the code of an
// area, which begins with a zero: 08-496 11 80. It returns where they end.
func (s *scanner) skipPhoneGroups(start, stop int) int {
	for s.low[start] == '0' && page.At(s.low, stop) == ' ' && page.IsDigit(page.At(s.low, stop+1)) && stop-start < page.MaxLone/2 {
		end := s.run(stop + 1)
		if n := end - stop - 1; n < 2 || n > 4 || !page.IsDigit(s.low[end-1]) {
			break
		}
		stop = end
	}
	return stop
}

func (s *scanner) hasRun(start, stop, n int) bool {
	k := 0
	for _, r := range s.low[start:stop] {
		if !page.IsDigit(r) {
			k = 0
			continue
		}
		if k++; k >= n {
			return true
		}
	}
	return false
}

// dottedEnd recognises six digits in two groups or in three that are no date, or four
// to eight by themselves, joined by points or the like: 482.913, 48.29.13, 4.8.2.9.
// It returns where they end.
func (s *scanner) dottedEnd(start, end int) int {
	each, groups, stop, sign := end-start, 1, end, page.At(s.low, end)
	if sign != '.' && (sign != '\'' && sign != '•' || each != 3) {
		return 0
	}
	for page.At(s.low, stop) == sign && s.run(stop+1)-stop-1 == each && page.IsDigit(s.low[stop+1]) {
		stop = s.run(stop + 1)
		groups++
	}
	if next := page.At(s.low, stop); page.IsDigit(page.At(s.low, stop+1)) && (next == '.' || next == ',' || next == ':' || next == '/' || next == '\'') {
		return 0
	}
	if each == 3 && groups == 2 || each == 2 && groups == 3 && !s.isPairDate(start) || each == 1 && groups >= page.MinCode && groups <= 8 {
		return stop
	}
	return 0
}

// namedNear reports whether a word for a code stands shortly before a place. Three and
// four digits that a hyphen joins are a telephone number otherwise.
func (p *Reading) namedNear(i int) bool {
	const far = 48
	p.Find(i)
	from := sort.Search(len(p.Marks), func(k int) bool { return p.Marks[k].Start >= i-far })
	for k := from; k < len(p.Marks) && p.Marks[k].Start < i; k++ {
		if p.Marks[k].Class&(lexicon.Code|lexicon.Word) != 0 {
			return true
		}
	}
	return false
}
