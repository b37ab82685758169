package page

import "slices"

// Gap is what lies between two places of a page.
type Gap struct {
	Words, Sentences, Soft, Hard int
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

// ResetCounts makes room for the counts of a page.
func (p *Page) ResetCounts() {
	n := len(p.Low)
	p.counts = slices.Grow(p.counts[:0], n+1)[:n+1]
	p.totals = slices.Grow(p.totals[:0], n/block+1)[:n/block+1]
	for b := range p.totals {
		p.totals[b] = uncounted
	}
}

// blockTotal is what a block holds. With it counts holds what stands in the block
// before each of its runes.
func (p *Page) blockTotal(b int) uint64 {
	if p.totals[b] == uncounted {
		p.count(b)
	}
	return p.totals[b]
}

// count counts the runes of a block.
func (p *Page) count(b int) {
	var sum uint64
	from, to, before := b*block, min((b+1)*block, len(p.Low)), Other
	if from > 0 {
		before = p.Kind[from-1]
	}
	counts := p.counts[from:to]
	for i, k := range p.Kind[from:to] {
		counts[i] = sum
		switch {
		case k&(Spaced|Digit) != 0:
			if before&(Spaced|Digit) == 0 {
				sum += 1 << wordShift
			}
		case k&Dense != 0:
			if k&evenBit == 0 {
				sum += 1 << wordShift
			}
		default:
			if r := p.Low[from+i]; r != ' ' {
				sum += p.punctuationCount(from+i, r)
			}
		}
		before = k
	}
	if to == len(p.Low) && to-from < block {
		p.counts[to] = sum
	}
	p.totals[b] = sum
}

// punctuationCount is what a rune that is no letter adds to the counts.
func (p *Page) punctuationCount(i int, r rune) uint64 {
	switch r {
	case '-', ',', ':':
	case SoftBreak, CellBreak:
		return 1 << softShift
	case HardBreak:
		return 1 << hardShift
	case '.', '!', '?', '…', ';':
		if p.SentenceEnd(i) {
			return 1 << sentenceShift
		}
	case '。', '！', '？', '।', '؟', '۔', '։', '።', '၊', '။':
		return 1 << sentenceShift
	}
	return 0
}

// Span is what lies between two places.
func (p *Page) Span(from, to int) Gap {
	if from >= to {
		return Gap{}
	}
	first, last := from/block, to/block
	p.blockTotal(last)
	d := p.counts[to]
	for b := first; b < last; b++ {
		d += p.blockTotal(b)
	}
	d -= p.counts[from]
	return Gap{
		Words:     int(d >> wordShift),
		Sentences: int(d >> sentenceShift & 0xFFFF),
		Soft:      int(d >> softShift & 0x7FFF),
		Hard:      int(d >> hardShift & 0x7FFF),
	}
}

// SentenceEnd reports whether the full stop at i ends a sentence, and not an abbreviation: "no. 123456".
func (p *Page) SentenceEnd(i int) bool {
	next := At(p.Low, i+1)
	if next != ' ' && next != SoftBreak && next != HardBreak && next != CellBreak && next != 0 && next != '"' && next != ')' {
		return false
	}
	if p.Low[i] != '.' || !IsDigit(At(p.Low, i+2)) {
		return true
	}
	if i >= MinCode && IsDigit(p.Low[i-1]) && IsDigit(p.Low[i-2]) && IsDigit(p.Low[i-3]) && IsDigit(p.Low[i-4]) {
		return true // "482913. 10 minutes are left"
	}
	return !(p.Boundary(i-1) || p.Boundary(i-2) || p.Boundary(i-3))
}
