package otp

// mark is a phrase of the lexicon found in a page.
type mark struct {
	start, end int
	class      class
}

// findMarks looks up every phrase in one pass. Of phrases that lie inside one
// another the longest is taken, so that "promo code" hides its "code".
func (p *page) findMarks() {
	x, low := p.x, p.low
	last, before := 0, other
	for i, r := range low {
		c := x.classOf(r)
		inWord := c == spaced && before == spaced || c == digit && before != other && before != dense
		before = c
		if r == ' ' || r == softBreak || r == hardBreak || r == cellBreak {
			continue
		}
		if inWord && (i+1 >= len(low) || !x.mayEnter(x.key(r), x.key(low[i+1]))) {
			continue
		}
		if m, ok := p.longest(i); ok && m.end > last {
			p.marks = append(p.marks, m)
			last = m.end
		}
	}
}

// longest finds the longest phrase that begins at a rune.
func (p *page) longest(i int) (m mark, ok bool) {
	m.start = i
	p.follow(&m, 0, i)
	if m.class == 0 {
		return m, false
	}
	m.start, m.end = p.wordStart(m.start), p.wordEnd(m.end)
	return m, true
}

// follow walks the trie from a node with the runes from j on. A star in a
// phrase branches off; phrases are short, and so are the branches.
func (p *page) follow(m *mark, node int32, j int) {
	x, low := p.x, p.low
	for ; j < len(low) && low[j] != hardBreak && low[j] != cellBreak; j++ {
		if node = x.step(node, x.key(low[j])); node == 0 {
			return
		}
		for t := x.heads[node]; t >= 0; t = x.terms[t].more {
			if f := &x.terms[t]; j+1 >= m.end && p.fits(f, m.start, j+1) {
				if m.end != j+1 {
					m.end, m.class = j+1, 0
				}
				m.class |= f.class
			}
		}
		if x.stars[node] {
			p.follow(m, x.step(node, star), p.wordEnd(j+1))
		}
	}
}

// fits checks the word boundaries of a phrase, and its marks if it is short.
func (p *page) fits(f *phrase, start, end int) bool {
	if !f.left && !p.boundary(start) || !f.right && !p.boundary(end) {
		return false
	}
	for k, r := range f.exact {
		if p.low[start+k] != r {
			return false
		}
	}
	return true
}

// boundary says whether a word of a spaced script does not go on at i.
func (p *page) boundary(i int) bool {
	if i <= 0 || i >= len(p.low) {
		return true
	}
	return p.x.classOf(p.low[i-1]) != spaced || p.x.classOf(p.low[i]) != spaced
}

// maxWord bounds how far a word is followed, in runes.
const maxWord = 64

func (p *page) wordStart(i int) int {
	for n := i - maxWord; i > 0 && i > n && !p.boundary(i); {
		i--
	}
	return i
}

func (p *page) wordEnd(i int) int {
	for n := i + maxWord; i < len(p.low) && i < n && !p.boundary(i); {
		i++
	}
	return i
}

// cutQuotes marks what follows the head of a quoted or forwarded mail, and
// the footers.
func (p *page) cutQuotes() {
	quoted, foot, where := false, false, inSubject
	k := 0
	for i := range p.lines {
		l := &p.lines[i]
		if l.part != where {
			quoted, foot, where = false, false, l.part
		}
		for k < len(p.marks) && p.marks[k].start < l.start {
			k++
		}
		for j := k; j < len(p.marks) && p.marks[j].start < l.end; j++ {
			quoted = quoted || p.marks[j].class&classQuote != 0 && l.part != inSubject
			foot = foot || p.marks[j].class&classFoot != 0 && l.part != inSubject
		}
		l.quoted, l.foot = quoted, foot
	}
}
