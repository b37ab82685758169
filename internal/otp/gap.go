package otp

import "slices"

// reach is how far, in runes, a word may stand from its number.
const reach = 240

// gap is what lies between a number and a word.
type gap struct {
	words, sentences, soft, hard int
	numbers                      int // that could take the word for their own
	figures                      int // of any sort
}

// The counts of a stretch of the page, packed into a word so that a gap is one
// subtraction: 18 bits of words, 16 of sentences, 15 of soft and of hard
// breaks. A page has fewer of each than would overflow.
const (
	hardShift     = 0
	softShift     = 15
	sentenceShift = 30
	wordShift     = 46
)

// block is how many runes are counted at a time: words are weighed near
// candidates only, and the rest of a mail need not be counted.
const block = 128

// uncounted stands for the total of a block that has not been counted.
const uncounted = ^uint64(0)

// uncount makes room for the counts of a page.
func (p *page) uncount() {
	n := len(p.low)
	p.counts = slices.Grow(p.counts[:0], n+1)[:n+1]
	p.totals = slices.Grow(p.totals[:0], n/block+1)[:n/block+1]
	for b := range p.totals {
		p.totals[b] = uncounted
	}
}

// total is what a block holds. With it counts holds what stands in the block
// before each of its runes.
func (p *page) total(b int) uint64 {
	if p.totals[b] == uncounted {
		p.count(b)
	}
	return p.totals[b]
}

// count counts the runes of a block.
func (p *page) count(b int) {
	var sum uint64
	from, to, before := b*block, min((b+1)*block, len(p.low)), other
	if from > 0 {
		before = p.kind[from-1]
	}
	counts := p.counts[from:to]
	for i, k := range p.kind[from:to] {
		counts[i] = sum
		switch {
		case k&(spaced|digit) != 0:
			if before&(spaced|digit) == 0 {
				sum += 1 << wordShift
			}
		case k&dense != 0:
			if k&evenBit == 0 {
				sum += 1 << wordShift
			}
		default:
			if r := p.low[from+i]; r != ' ' {
				sum += p.punctuation(from+i, r)
			}
		}
		before = k
	}
	if to == len(p.low) && to-from < block {
		p.counts[to] = sum
	}
	p.totals[b] = sum
}

// punctuation is what a rune that is no letter adds to the counts.
func (p *page) punctuation(i int, r rune) uint64 {
	switch r {
	case '-', ',', ':':
	case softBreak, cellBreak:
		return 1 << softShift
	case hardBreak:
		return 1 << hardShift
	case '.', '!', '?', '…', ';':
		if p.sentenceEnd(i) {
			return 1 << sentenceShift
		}
	case '。', '！', '？', '।', '؟', '۔', '։', '።', '၊', '။':
		return 1 << sentenceShift
	}
	return 0
}

// span is what lies between two places.
func (p *page) span(from, to int) gap {
	if from >= to {
		return gap{}
	}
	first, last := from/block, to/block
	p.total(last)
	d := p.counts[to]
	for b := first; b < last; b++ {
		d += p.total(b)
	}
	d -= p.counts[from]
	return gap{
		words:     int(d >> wordShift),
		sentences: int(d >> sentenceShift & 0xFFFF),
		soft:      int(d >> softShift & 0x7FFF),
		hard:      int(d >> hardShift & 0x7FFF),
	}
}

// sentenceEnd tells a full stop from that of an abbreviation: "no. 123456".
func (p *page) sentenceEnd(i int) bool {
	next := at(p.low, i+1)
	if next != ' ' && next != softBreak && next != hardBreak && next != cellBreak && next != 0 && next != '"' && next != ')' {
		return false
	}
	if p.low[i] != '.' || !isDigit(at(p.low, i+2)) {
		return true
	}
	if i >= minCode && isDigit(p.low[i-1]) && isDigit(p.low[i-2]) && isDigit(p.low[i-3]) && isDigit(p.low[i-4]) {
		return true // "482913. 10 minutes are left"
	}
	return !(p.boundary(i-1) || p.boundary(i-2) || p.boundary(i-3))
}

// look is one word near a number.
type look struct {
	mark int
	gap  gap
	left bool
}

// locate notes for each candidate the line it is on, the part, the first mark
// after it, and whether it is tied to what stands before it.
func (s *scoring) locate() {
	s.p.uncount()
	line, m, spans := 0, 0, 0
	for k := range s.cs {
		c := &s.cs[k]
		for line < len(s.p.lines)-1 && s.p.lines[line].end <= c.start {
			line++
		}
		for m < len(s.p.marks) && s.p.marks[m].start < c.start {
			m++
		}
		for spans < len(s.p.spans) && s.p.spans[spans].start <= c.start {
			spans++
		}
		c.line, c.mark, c.spans = line, m, spans
		c.tie = c.veto == "" && (s.tied(c) || s.isAfter(k))
	}
}

// partBounds are the runes of the part of the mail that a candidate is in. A
// subject that is but a number goes on in the text.
func (s *scoring) partBounds(c *candidate) (from, to int) {
	where := s.p.lines[c.line].part
	b := s.p.bounds[where]
	if where == inSubject && c.lone {
		return b[0], len(s.p.low)
	}
	return b[0], b[1]
}

// leftOf lists the marks before a candidate, nearest first.
func (s *scoring) leftOf(k int, yield func(look) bool) {
	c := &s.cs[k]
	from, _ := s.partBounds(c)
	from = max(from, c.start-reach)
	prev, figures, numbers := k-1, 0, 0
	for i := c.mark - 1; i >= 0; i-- {
		s.p.steps++
		m := &s.p.marks[i]
		if m.start < from {
			return
		}
		for prev >= 0 && s.cs[prev].start >= m.end {
			figures++
			if s.rival(&s.cs[prev], c) {
				numbers++
			}
			prev--
		}
		g := s.p.span(m.end, c.start)
		g.figures, g.numbers = figures, numbers
		if !yield(look{mark: i, gap: g, left: true}) {
			return
		}
	}
}

// rightOf lists the marks after a candidate, nearest first.
func (s *scoring) rightOf(k int, yield func(look) bool) {
	c := &s.cs[k]
	_, to := s.partBounds(c)
	to = min(to, c.end+reach)
	next, figures, numbers := k+1, 0, 0
	for i := c.mark; i < len(s.p.marks); i++ {
		s.p.steps++
		m := &s.p.marks[i]
		if m.start >= to {
			return
		}
		if m.start < c.end {
			continue
		}
		for next < len(s.cs) && s.cs[next].start < m.start {
			figures++
			if s.rival(&s.cs[next], c) {
				numbers++
			}
			next++
		}
		g := s.p.span(c.end, m.start)
		g.figures, g.numbers = figures, numbers
		if !yield(look{mark: i, gap: g}) {
			return
		}
	}
}

// rival says whether a number could take the words beyond it for its own.
func (s *scoring) rival(o, c *candidate) bool {
	if o.kind == Alphanumeric && (!o.upper || o.letters && s.p.lines[o.line].part != inSubject && !o.tie) && !o.lone {
		return false // a name, more likely
	}
	return o.veto == "" && !o.pointed && o.against > -4 && (o.kind == Numeric || o.kind == c.kind || !o.letters)
}
