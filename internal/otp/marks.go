package otp

// mark is a phrase of the lexicon found in a page.
type mark struct {
	start, end  int // whole words
	class       class
	from, to    int   // the letters that matched
	letters     int   // spelled out by the phrase
	node        int32 // where the trie ended
	owns        bool  // its language lists what may stand before it
	first, last int32 // the phrases it stands for, of those that fit
	footer      bool  // one of them begins a footer
	best        int   // the candidate it belongs to, counted from 1
}

// findMarks looks up every phrase in one pass. Of phrases that overlap the
// longest is taken, so that "promo code" hides its "code".
func (p *page) findMarks() {
	before := other
	for i := 0; i < len(p.class); {
		c, end := p.class[i], i+1
		switch {
		case c == spaced:
			end = p.lettersEnd(end)
			p.tryWord(i, end)
		case c == digit && (before == spaced || before == digit): // a word or number goes on
		case p.low[i] > ' ' && p.may(i):
			p.try(i)
		}
		before, i = c, end
	}
	p.resolve()
}

// lettersEnd is where a run of letters of a spaced script ends.
func (p *page) lettersEnd(i int) int {
	for i < len(p.class) && p.class[i] == spaced {
		i++
	}
	return i
}

// tryWord looks up the phrases that begin with a word, or with a later part of
// it that leaves minHead letters.
func (p *page) tryWord(start, end int) {
	if p.may(start) {
		p.try(start)
	}
	e, last := &p.x.entry, min(end, start+1+maxWord)-minHead
	h := trio(0).next(p.keys[start+1]).next(p.keys[start+2])
	for i := start + 1; i <= last; i++ {
		if h = h.next(p.keys[i+2]); e.mayBe(h) && e.mayInside(p.keys[i:i+4]) {
			p.try(i)
		}
	}
}

// try takes the longest phrase that begins at a rune, if there is one.
func (p *page) try(i int) {
	if m, ok := p.longest(i); ok {
		p.keep(m)
	}
}

// minHead is how short the last word of a compound may be, in letters.
const minHead = 3

// keep adds a mark unless a longer one covers part of it; it takes the place
// of a shorter one.
func (p *page) keep(m mark) {
	if n := len(p.marks); n > 0 && p.marks[n-1].end > m.start {
		last := &p.marks[n-1]
		if m.letters > last.letters && m.end > last.end {
			*last = m
		}
		return
	}
	p.marks = append(p.marks, m)
}

// longest finds the longest phrase that begins at a rune.
func (p *page) longest(i int) (m mark, ok bool) {
	m.from = i
	p.follow(&m, 0, i, 0)
	if m.node == 0 {
		return m, false
	}
	m.start, m.end = p.wordStart(m.from), p.wordEnd(m.to)
	return m, true
}

// follow walks the trie from a node with the runes from j on; n letters have
// been followed. A star in a phrase branches off; phrases are short, and so
// are the branches.
func (p *page) follow(m *mark, node int32, j, n int) {
	x, low, keys := p.x, p.low, p.keys
	for ; j < len(low) && low[j] != hardBreak && low[j] != cellBreak; j++ {
		p.steps++
		if from := &x.nodes[node]; from.key == keys[j] {
			node = from.child
		} else if !from.more {
			return
		} else if node = x.further(node, keys[j]); node == 0 {
			return
		}
		n++
		at := &x.nodes[node]
		if at.head >= 0 {
			p.arrive(m, node, j+1, n)
		}
		if at.star {
			rest, end := x.step(node, star), p.wordEnd(j+1)
			p.arrive(m, rest, end, n)
			p.follow(m, rest, end, n)
		}
	}
}

// arrive takes the phrases that end at a node, if they fit. Of those that
// begin alike the one that spells out more letters is taken.
func (p *page) arrive(m *mark, node int32, end, n int) {
	for t := p.x.nodes[node].head; t >= 0 && n > m.letters; t = p.x.terms[t].more {
		if p.fits(&p.x.terms[t], m.from, end) {
			m.node, m.to, m.letters = node, end, n
		}
	}
}

// fits checks the word boundaries of a phrase and its diacritics: a letter may
// be written without those it has, not with others. Short phrases have to be
// written as they are.
func (p *page) fits(f *phrase, start, end int) bool {
	if !f.left && !p.boundary(start) || !p.boundary(end) {
		return false
	}
	if f.exact < 0 {
		return true
	}
	for k, r := range p.x.letters[f.exact : f.exact+int32(f.size)] {
		if t := p.low[start+k]; t != r && p.x.key(t) != p.x.key(r) || t != r && (f.size <= maxShort || t != p.x.strip(r)) && p.x.key(r) != ' ' {
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
	return p.class[i-1] != spaced || p.class[i] != spaced
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
