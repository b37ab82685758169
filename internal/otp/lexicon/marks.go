package lexicon

import (
	"slices"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// Mark is a phrase of the lexicon found in a page, and what it says there.
type Mark struct {
	Start, End int // whole words
	From       int // the letters that matched begin here
	Class      Class
	Best       int32 // the candidate it belongs to, counted from 1
	Line       int32 // it begins on
	Owns       bool  // its language lists what may stand before it
}

// match is such a phrase before it is known which languages the page is in.
type match struct {
	start, end  int      // whole words
	from, to    int      // the letters that matched
	letters     int      // spelled out by the phrase
	headFrom    int      // where the last part of a compound begins, if there is one
	head        int32    // where the trie ended for that part
	node        int32    // where it ended for the whole
	others      [3]int32 // and where for shorter stems of the same words
	first, last int32    // the phrases it stands for, of the senses of the page
	like        int32    // one before it that stands for the same, counted from 1
	begins      bool     // with a word
	footer      bool     // one of the phrases begins a footer
	silent      bool     // it has no vote
}

// findMatches looks up every phrase as far as a place, in one pass. Of phrases that
// overlap the longest is taken, so that "promo code" hides its "code". It goes on behind
// the place as long as the last phrase does, which a longer one might hide.
func (p *Text) findMatches(end int) {
	end = min(end, len(p.Low))
	i := p.done.next
	for i < end || i < p.matchEnd() {
		switch k := p.Kind[i]; {
		case k&page.Spaced != 0:
			end := p.LettersEnd(i + 1)
			if !p.inHost(i, end) {
				p.tryWord(i, end)
			}
			i = end
			continue
		case k&page.InkBit == 0:
		case k&page.Digit != 0 && i > 0 && p.Kind[i-1]&(page.Spaced|page.Digit) != 0: // a word or number goes on
		case p.x.entry.mayBeginOther(page.Eight(p.Tags, i)):
			p.tryMatch(i)
		}
		i++
	}
	p.done.next = i
}

// matchEnd is where the last match ends.
func (p *Text) matchEnd() int {
	if n := len(p.matches); n > 0 {
		return p.matches[n-1].end
	}
	return 0
}

// inHost reports whether a word is part of the name of a host, and is no word of the
// mail: "shop.example".
func (p *Text) inHost(i, end int) bool {
	return p.Tags[end] == '.' && page.IsLetter(page.At(p.Raw, end+1)) || i >= 2 && p.Tags[i-1] == '.' && page.IsLetter(p.Low[i-2]) && page.IsLetter(p.Raw[i])
}

// lookUp looks up the phrases that begin with a word, and those that begin with a
// later part of it that leaves minHead letters. It reports whether there are any.
func (p *Text) lookUp(start, end int) (found, inner bool) {
	e, letters := &p.x.entry, end-start
	p.far = end
	found = e.mayBegin(p.Tagged(start, letters), letters) && p.tryMatch(start)
	if letters <= minHead {
		return found, false
	}
	least := e.minInside(p.Tagged(end-minHead, minHead), letters)
	if least == 0 {
		return found, false
	}
	for i := start + 1; i <= min(end, start+1+page.MaxWord)-least; i++ {
		if e.mayBeginInside(p.Tagged(i, 4)) {
			inner = p.tryMatch(i) || inner
		}
	}
	return found, inner
}

// tryMatch takes the longest phrase that begins at a rune, and reports whether there is
// one.
func (p *Text) tryMatch(i int) bool {
	m := p.newMatch()
	*m = match{} // in its place: it is too large to be copied for each word
	m.from, m.begins = i, p.Boundary(i)
	p.longest(m)
	if m.node != 0 && m.begins && m.to > p.WordEnd(i+1) && p.endsName(i) && p.x.namesOther(m.node) {
		m.node, p.far = 0, m.to+8 // "your Pine Delivery code" is no delivery code
	}
	if m.node == 0 {
		p.matches = p.matches[:len(p.matches)-1]
		return false
	}
	m.start, m.end = p.WordStart(i), p.WordEnd(m.to)
	p.dropOverlap()
	return true
}

// newMatch makes room for a match.
func (p *Text) newMatch() *match {
	n := len(p.matches)
	p.matches = slices.Grow(p.matches, 1)[:n+1]
	return &p.matches[n]
}

// minHead is how short the last word of a compound may be, in letters.
const minHead = 3

// dropOverlap drops the last match again if the one before covers part of it. If that is
// shorter, it becomes the new one.
func (p *Text) dropOverlap() {
	n := len(p.matches) - 1
	if n == 0 || p.matches[n-1].end <= p.matches[n].start {
		return
	}
	switch m, last := &p.matches[n], &p.matches[n-1]; {
	case m.letters > last.letters && m.end > last.end:
		*last = *m
	case last.head == 0 && m.from > last.from && m.start == last.start && m.end == last.end:
		last.head, last.headFrom = m.node, m.from
	}
	p.matches = p.matches[:n]
}

// longest finds the longest phrase that begins where a match does. Between two
// letters ends none.
func (p *Text) longest(m *match) {
	i := m.from
	if a, b := rune(p.Tags[i]), rune(p.Tags[i+1]); !page.IsLetter(a) || !page.IsLetter(b) {
		p.follow(m, 0, i, 0)
	} else if node := p.x.pairs[a-'a'][b-'a']; node != 0 {
		p.follow(m, node, i+2, 2)
	}
}

// follow walks the trie from a node with the runes from j on; n letters have
// been followed. A star in a phrase branches off; phrases are short, and so
// are the branches.
func (p *Text) follow(m *match, node int32, j, n int) {
	for n -= j; ; {
		at := &p.x.nodes[node]
		if at.head >= 0 && n+j > m.letters && p.Boundary(j) {
			p.takePhrases(m, node, j, n+j)
		}
		if at.star {
			p.follow(m, p.x.step(node, star), p.WordEnd(j), n+j)
		}
		start := j
		node, j = p.walk(node, j)
		p.Steps += j - start
		p.far = max(p.far, j)
		if node == 0 {
			return
		}
	}
}

// walk goes on to the next node where a phrase ends or has a star, and returns 0
// if there is none. No phrase goes on over a break between cells or blocks.
func (p *Text) walk(node int32, j int) (int32, int) {
	t := p.x.trie
	for at := &t.nodes[node]; ; j++ {
		if key := p.KeyAt(j); at.key == key {
			node = at.child
		} else if at.more>>(key&15)&1 == 0 {
			return 0, j
		} else if node = t.findChild(node, key); node == 0 {
			return 0, j
		}
		if at = &t.nodes[node]; at.head >= 0 || at.star {
			return node, j + 1
		}
	}
}

// takePhrases takes the phrases that end at a node, if they fit. Of those that
// begin alike the one that spells out more letters is taken.
func (p *Text) takePhrases(m *match, node int32, end, n int) {
	for t := p.x.nodes[node].head; t >= 0; t = p.x.terms[t].more {
		if p.fits(&p.x.terms[t], m) {
			if m.node != 0 && p.WordEnd(m.to) == p.WordEnd(end) {
				m.others = [3]int32{m.node, m.others[0], m.others[1]}
			} else {
				m.others = [3]int32{}
			}
			m.node, m.to, m.letters = node, end, n
			return
		}
	}
}

// fits checks the beginning of a phrase and its diacritics.
func (p *Text) fits(f *phrase, m *match) bool {
	return (f.left || m.begins) && (f.exact < 0 || p.spells(f, m))
}

// spells checks the diacritics of a phrase: a letter may be written without those
// it has, not with others. Short phrases have to be written as they are.
func (p *Text) spells(f *phrase, m *match) bool {
	if f.plain && p.HasNoDiacritics(m.from, int(f.size)) {
		return true
	}
	letters := p.x.letters[f.exact : f.exact+int32(f.size)]
	for k, r := range p.Low[m.from : m.from+len(letters)] {
		if want := letters[k]; r != want && !p.x.accepts(r, want, f.size <= maxShort) {
			return false
		}
	}
	return true
}

// accepts reports whether a rune of a text may stand for another of a phrase.
func (x *lexicon) accepts(r, want rune, short bool) bool {
	key := x.abc.Key(want)
	return x.abc.Key(r) == key && (key == ' ' || !short && r == x.abc.Strip(want))
}

// cutQuotes marks what follows the head of a quoted mail, and the footers, in the first
// lines. What follows that of a mail that is passed on as a whole is the mail.
func (p *Text) cutQuotes(lines int) {
	passed, d := p.isForwarded(), &p.done
	for ; d.marks < len(p.Marks); d.marks++ {
		if m := &p.Marks[d.marks]; m.Class&(classQuote|Foot) != 0 {
			l := &p.Lines[m.Line]
			l.Quoted = l.Quoted || m.Class&classQuote != 0 && l.Part != page.InSubject && !passed
			if m.Class&Foot != 0 && l.Part != page.InSubject && !l.Foot {
				l.Foot, l.FootAt = true, m.Start
			}
		}
	}
	for i := max(1, d.lines); i < lines; i++ {
		l, above := &p.Lines[i], &p.Lines[i-1]
		if l.Part != above.Part {
			continue
		}
		l.Quoted = l.Quoted || above.Quoted
		if above.Foot && i > maxTop && p.Lines[i-1-maxTop].Part == l.Part { // not "view in browser", above all
			l.Foot, l.FootAt = true, l.Start
		}
	}
	d.lines = lines
}

// maxTop is how many lines from the top a footer does not begin.
const maxTop = 2

// isForwarded reports whether the subject begins as that of a forwarded mail does.
func (p *Text) isForwarded() bool { return p.opensWith(classPass) }

// IsReply reports whether the subject begins as that of an answer does. A person wrote
// such a mail, and talks about the codes in it.
func (p *Text) IsReply() bool { return p.opensWith(classReply) }

// opensWith reports whether the subject begins with a sign that mail programs put there.
func (p *Text) opensWith(sign Class) bool {
	return len(p.Marks) > 0 && len(p.Lines) > 0 && p.Lines[0].Part == page.InSubject && p.Marks[0].Class&sign != 0 && p.Marks[0].Start == p.Lines[0].Start
}

// MarkFrom is the index of the first mark that starts at a rune or after it. It is
// looked for from a mark that is mostly near.
func (p *Text) MarkFrom(i, near int) int {
	for near > 0 && p.Marks[near-1].Start >= i {
		near--
	}
	for near < len(p.Marks) && p.Marks[near].Start < i {
		near++
	}
	return near
}
