package otp

import "sort"

// reach is how far, in runes, a word may stand from its number.
const reach = 240

// gap is what lies between a number and a word.
type gap struct {
	words, sentences, soft, hard, cells, numbers int
}

// span adds what lies between two places to a gap.
func (p *page) span(g gap, from, to int) gap {
	denseRun := 0
	before := other
	for i := from; i < to; i++ {
		r := p.low[i]
		c := p.x.classOf(r)
		switch {
		case c == dense:
			if denseRun%2 == 0 {
				g.words++
			}
			denseRun++
		case c != other && before != c && before == other:
			g.words++
		}
		before = c
		switch r {
		case softBreak:
			g.soft++
		case hardBreak:
			g.hard++
		case cellBreak:
			g.cells++
		case '.', '!', '?', '…', ';':
			if p.sentenceEnd(i) {
				g.sentences++
			}
		case '。', '！', '？', '।', '؟', '۔', '։', '።', '၊', '။':
			g.sentences++
		}
	}
	return g
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
	return !(p.boundary(i-1) || p.boundary(i-2) || p.boundary(i-3))
}

// look is one word near a number.
type look struct {
	mark int
	gap  gap
	left bool
}

// leftOf lists the marks before a candidate, nearest first.
func (p *page) leftOf(cs []candidate, k int, yield func(look) bool) {
	c := &cs[k]
	m := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].start >= c.start }) - 1
	var g gap
	pos, prev := c.start, k-1
	for ; m >= 0; m-- {
		k := p.marks[m]
		if k.start < c.start-reach {
			return
		}
		if k.end <= pos {
			g = p.span(g, k.end, pos)
			pos = k.end
		}
		for prev >= 0 && cs[prev].start >= k.end {
			if p.rival(&cs[prev], c) {
				g.numbers++
			}
			prev--
		}
		if p.partOf(k.start) != p.partOf(c.start) || !yield(look{mark: m, gap: g, left: true}) {
			return
		}
	}
}

// rightOf lists the marks after a candidate, nearest first.
func (p *page) rightOf(cs []candidate, k int, yield func(look) bool) {
	c := &cs[k]
	m := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].start >= c.end })
	var g gap
	pos, next := c.end, k+1
	for ; m < len(p.marks); m++ {
		k := p.marks[m]
		if k.start > c.end+reach {
			return
		}
		if k.start >= pos {
			g = p.span(g, pos, k.start)
			pos = k.end
		}
		for next < len(cs) && cs[next].start < k.start {
			if p.rival(&cs[next], c) {
				g.numbers++
			}
			next++
		}
		if p.partOf(k.start) != p.partOf(c.start) || !yield(look{mark: m, gap: g}) {
			return
		}
	}
}

// rival says whether a number could take the words beyond it for its own.
func (p *page) rival(o, c *candidate) bool {
	return o.veto == "" && o.against > -4 && (o.kind == Numeric || o.kind == c.kind || !o.letters)
}

func (p *page) partOf(i int) part { return p.lines[p.lineAt(i)].part }
