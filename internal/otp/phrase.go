package otp

import "slices"

// The bounds of a phrase that is a code: "lucid-amber-otter".
const (
	minPhrase     = 3 // words
	maxPhrase     = 6
	minPhraseWord = 3 // letters
	maxPhraseWord = 12
	phraseReach   = 80 // runes between a name and its phrase
	maxPhrases    = 16 // phrases of a mail that are looked at
)

// phrase looks for words that are the code of a mail in which no other candidate is:
// right after a strong name of a code, or a word for a code and one for signing in, joined by hyphens; parted by spaces only alone on
// a line, and where the name says that it is a phrase. It returns the index of the new
// candidate, or -1.
func (s *scoring) phrase() int {
	for i, n := 0, 0; i < len(s.p.marks) && n < maxPhrases; i++ {
		m := &s.p.marks[i]
		if m.class&classCode == 0 && (m.class&classWord == 0 || !s.beside(i, classAuth|classOnce)) || s.owned(i) {
			continue
		}
		c, ok := s.phraseAfter(i)
		if ok {
			return s.insert(c, m)
		}
		if c.size > 0 {
			n++
		}
	}
	return -1
}

// insert puts a phrase among the candidates, in the order of the mail.
func (s *scoring) insert(c candidate, m *mark) int {
	k := 0
	for k < len(s.cs) && s.cs[k].start < c.start {
		k++
	}
	s.because(&c, gainCode, "a phrase after", m)
	s.cs = slices.Insert(s.cs, k, c)
	return k
}

// phraseAfter reads the phrase that follows a name: at once, or tied to it by a colon
// or "is".
func (s *scoring) phraseAfter(mark int) (c candidate, ok bool) {
	p, m := s.p, &s.p.marks[mark]
	for i := m.end; i < min(len(p.low), m.end+phraseReach); i++ {
		if p.kind[i]&spaced == 0 || !p.boundary(i) {
			continue
		}
		end, hyphens := p.phraseEnd(i)
		if end == 0 {
			continue
		}
		c = candidate{start: i, end: end, kind: Phrase, anchor: mark, line: p.lineAt(i), size: end - i, letters: true, groups: 1}
		l := &p.lines[c.line]
		c.lone = p.alone(l, &c)
		if !hyphens && (m.class&classPhrase == 0 || !c.lone && !s.closesLine(&c)) {
			c = candidate{}
			continue
		}
		g := p.span(m.end, i)
		if g.words > 4 || g.sentences > 0 || g.hard > 2 || g.words > 0 && !s.tied(&c) && !s.saidBefore(mark, i) || l.quoted || l.inFoot(i) {
			return c, false
		}
		mood := p.feel(p.stretchOf(&c))
		return c, !mood.never && mood.void == 0 && !mood.subjectOld
	}
	return c, false
}

// saidBefore reports whether a word such as "is" stands behind a mark and right before
// a place.
func (s *scoring) saidBefore(mark, i int) bool {
	for k := mark + 1; k < len(s.p.marks) && s.p.marks[k].start < i; k++ {
		if m := &s.p.marks[k]; m.class&classIs != 0 && m.end <= i && s.p.span(m.end, i).words == 0 {
			return true
		}
	}
	return false
}

// closesLine reports whether nothing but a full stop follows a phrase on its line, and
// a colon stands before it.
func (s *scoring) closesLine(c *candidate) bool {
	return s.tied(c) && (at(s.p.low, c.end) < ' ' || at(s.p.low, c.end) == '.' && at(s.p.low, c.end+1) < ' ')
}

// phraseEnd reads words of letters from a place on, joined all by hyphens or all by
// spaces. It returns where they end, or 0 if they are no phrase.
func (p *page) phraseEnd(start int) (end int, hyphens bool) {
	words, i, sign := 0, start, rune(0)
	for {
		from := i
		for i < len(p.low) && p.kind[i]&spaced != 0 && i-from <= maxPhraseWord {
			i++
		}
		p.steps += i - from
		if n := i - from; n < minPhraseWord || n > maxPhraseWord {
			return 0, false
		}
		if words, end = words+1, i; words > maxPhrase {
			return 0, false
		}
		next := at(p.low, i)
		if sign == 0 && (next == '-' || next == ' ') {
			sign = next
		}
		if next != sign || i+1 >= len(p.low) || p.kind[i+1]&spaced == 0 {
			break
		}
		i++
	}
	next, after := at(p.low, end), at(p.low, end+1)
	closed := next <= ' ' || p.kind[end]&(spaced|dense|digit) == 0 && next != '-' && next != '@' && next != '/' && (next != '.' || after <= ' ')
	if words < minPhrase || words > maxPhrase || !closed {
		return 0, false
	}
	return end, sign == '-'
}
