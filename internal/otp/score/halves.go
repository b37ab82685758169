package score

import "github.com/gonebox/gonebox/internal/otp/page"

// The bounds of a group of digits in a cell, a box or a line of its own.
const (
	minHalf   = 2
	maxHalf   = 5
	maxHalves = 8 // digits of two of them that are one code
)

// halves reads groups of digits in neighbouring cells or on neighbouring lines that group
// has not joined: 481 | 9204, 4819 | 2047. Two groups in cells are one code if their row
// holds nothing else or a word for a code stands before them. Any others are rejected as
// a whole, because one of the groups is never the code.
func (s *scanner) halves(start, end int) bool {
	if end-start > maxHalf || end-start < minHalf {
		return false
	}
	const most = 3 // lines: more are a list
	sep := page.At(s.low, end)
	stop, total, count, years := end, end-start, 1, s.dateYear(start, end)
	for page.At(s.low, stop) == sep && (count < most || sep == page.CellBreak) {
		from := stop + 1
		to := from
		for to < len(s.low) && page.IsDigit(s.low[to]) {
			to++
		}
		if to-from < minHalf || to-from > maxHalf || s.hasUnitBehind(to) || !s.halfEnds(to) {
			break
		}
		years = years || s.dateYear(from, to)
		stop, total, count = to, total+to-from, count+1
	}
	if count == 1 || total < page.MinCode+minHalf {
		return false
	}
	switch sep {
	case page.CellBreak:
		c := candidate{start: start, end: stop, kind: Numeric, size: total, groups: count, form: unevenlyEnded}
		if count > 2 || total > maxHalves || years || !s.p.namedNear(start) && !s.p.isAlone(&s.p.Lines[s.p.LineAt(start)], &c) {
			s.reject(start, stop, aPiece)
			return true
		}
		c.veto = s.around(start, stop)
		s.add(c)
		return true
	case page.SoftBreak, page.HardBreak:
		first, last := &s.p.Lines[s.p.LineAt(start)], &s.p.Lines[s.p.LineAt(stop-1)]
		if count == 2 && !years && first.Start == start && first.Part == last.Part {
			s.reject(start, stop, aPiece)
			return true
		}
	}
	return false
}

// dateYear reports whether a group reads as a year.
func (s *scanner) dateYear(start, end int) bool { return end-start == 4 && s.isYear(start) }

// halfEnds reports whether a group of digits ends with its cell or line.
func (s *scanner) halfEnds(i int) bool {
	switch page.At(s.low, i) {
	case 0, page.CellBreak, page.SoftBreak, page.HardBreak:
		return true
	}
	return false
}
