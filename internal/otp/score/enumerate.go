package score

import (
	"sort"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// Codes of one mail that are counted: "Code no. 1: 482913 (expired), code no. 2: 771904".

// maxOrdinal is how many digits the number of a counted code has at most.
const maxOrdinal = 2

// isOrdinal reports whether a short number stands at a place, behind signs and a space.
func (p *Reading) isOrdinal(i int) bool {
	for n := 0; n < 3 && (page.At(p.Low, i) == ' ' || page.At(p.Low, i) == '#' || page.At(p.Low, i) == '.'); n++ {
		i++
	}
	end := i
	for page.IsDigit(page.At(p.Low, end)) {
		end++
	}
	next := page.At(p.Low, end)
	if end == i || end-i > maxOrdinal || p.Letters.ClassOf(next) != page.Other {
		return false
	}
	return next != '-' && next != '/' && !((next == '.' || next == ',' || next == ':') && page.IsDigit(page.At(p.Low, end+1)))
}

// isCounter reports whether a mark is "no." or the like between a word for a code and the
// number that the code has among several.
func (p *Reading) isCounter(m int) bool {
	if m == 0 || m >= len(p.Marks) || p.Marks[m].Class&(lexicon.Not|lexicon.Number) == 0 {
		return false
	}
	name := &p.Marks[m-1]
	if name.Class&(lexicon.Code|lexicon.Word) == 0 || p.Marks[m].Start < name.End || p.Marks[m].Start-name.End > 1 {
		return false
	}
	return p.isOrdinal(p.Marks[m].End)
}

// isOneOfSeveral reports whether the code that a word names is one of several that are counted.
func (p *Reading) isOneOfSeveral(m int) bool {
	if m+1 < len(p.Marks) && p.isCounter(m+1) {
		return true
	}
	return p.isOrdinal(p.Marks[m].End)
}

// ordinalOf reports whether a short number is that of a code among several, and the code
// follows at once: the 1 of "Code no. 1 482913".
func (s *scanner) ordinalOf(start, end int) bool {
	if end-start > maxOrdinal || page.At(s.low, end) != ' ' || s.run(end+1)-end-1 < page.MinCode {
		return false
	}
	sign := page.At(s.low, start-1)
	if sign == ' ' {
		sign = page.At(s.low, start-2)
	}
	switch sign {
	case '.', '#', '№', '°', 'º': // of "no." and the like: phrases need not be found for most numbers
	default:
		return false
	}
	s.p.Find(start)
	m := sort.Search(len(s.p.Marks), func(k int) bool { return s.p.Marks[k].Start >= start }) - 1
	return m > 0 && s.p.Marks[m].End <= start && s.p.Marks[m].End >= start-2 && s.p.isCounter(m)
}

// rejectSeveral rejects the codes that are counted where more than one of them may be good.
func (s *scoring) rejectSeveral() {
	first, more := -1, false
	for k := range s.cs {
		if !s.isCounted(k) {
			continue
		}
		if first < 0 {
			first = k
		}
		more = more || s.p.sum(&s.cs[k]) != s.p.sum(&s.cs[first])
	}
	for k := first; more && k < len(s.cs); k++ {
		if s.isCounted(k) {
			s.add(&s.cs[k], inRows)
		}
	}
}

// countedBefore reports whether the name of a counted code stands right before a candidate.
func (s *scoring) countedBefore(c *candidate) bool {
	for m := c.mark - 1; m >= 0 && m >= c.mark-2; m-- {
		if s.p.Marks[m].Class&(lexicon.Code|lexicon.Word) != 0 {
			return s.p.isOneOfSeveral(m) && s.p.Span(s.p.Marks[m].End, c.start).Words <= 3
		}
	}
	return false
}

// isCounted reports whether a candidate is a counted code, and no word says that it is no
// longer good.
func (s *scoring) isCounted(k int) bool {
	c := &s.cs[k]
	if c.veto != "" || c.old || c.name.mark < 0 {
		return false
	}
	m := &s.p.Marks[c.name.mark]
	return m.End <= c.start && s.p.Span(m.End, c.start).Words <= 3 && s.p.isOneOfSeveral(c.name.mark)
}
