package score

import (
	"slices"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

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
// right after a strong name of a code, or a word for a code and one for signing in, joined
// by hyphens; parted by spaces only alone on a line, and where the name says that it is a
// phrase. A word for a code alone ("with the following code:") names the phrase below it
// in a mail about signing in. It returns the index of the new candidate, or -1.
func (s *scoring) phrase() int {
	for i, n := 0, 0; i < len(s.p.Marks) && n < maxPhrases; i++ {
		m := &s.p.Marks[i]
		if m.Class&(lexicon.Code|lexicon.Word) == 0 || s.hasOwner(i) {
			continue
		}
		c, ok := s.phraseAfter(i, m.Class&lexicon.Code != 0 || s.isBeside(i, lexicon.Auth|lexicon.Once))
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
func (s *scoring) insert(c candidate, m *lexicon.Mark) int {
	k := 0
	for k < len(s.cs) && s.cs[k].start < c.start {
		k++
	}
	s.because(&c, fullName.gives(), "a phrase after", m)
	s.cs = slices.Insert(s.cs, k, c)
	return k
}

// phraseAfter reads the phrase that follows a name: at once, or tied to it by a colon
// or "is". After a name that is not strong it must be alone on its line, joined by
// hyphens and tied, in a mail about signing in.
func (s *scoring) phraseAfter(mark int, strong bool) (c candidate, ok bool) {
	p, m := s.p, &s.p.Marks[mark]
	for i := m.End; i < min(len(p.Low), m.End+phraseReach); i++ {
		if p.Kind[i]&page.Spaced == 0 || !p.Boundary(i) {
			continue
		}
		end, hyphens := p.phraseEnd(i)
		if end == 0 {
			continue
		}
		c = candidate{start: i, end: end, kind: Phrase, facts: facts{name: name{mark: mark}, line: p.LineAt(i)}, size: end - i, letters: true, groups: 1}
		l := &p.Lines[c.line]
		c.lone = p.isAlone(l, &c)
		if !hyphens && (m.Class&lexicon.Phrase == 0 || !c.lone && !s.closesLine(&c)) {
			c = candidate{}
			continue
		}
		g := p.Span(m.End, i)
		far := 4
		if hyphens && c.lone && s.isTied(&c) {
			far = 10 // "enter these words on the page where you are signing in:"
		}
		titled := hyphens && c.lone && m.Class&lexicon.Phrase != 0 && s.closesHead(m) // the subject is its name
		distant := g.Words > far || g.Sentences > 0 || g.Hard > 2 || g.Words > 0 && !s.isTied(&c) && !s.saidBefore(mark, i)
		if distant && !titled || l.Quoted || l.InFoot(i) {
			return c, false
		}
		topic := p.topicOf(p.neighbourhoodOf(&c), s.subject)
		if !strong && (!hyphens || !c.lone && !s.closesLine(&c) || topic.auth == 0 || g.Words > 1) {
			return c, false
		}
		return c, !topic.never && topic.void == 0 && !s.subject.old
	}
	return c, false
}

// closesHead reports whether a mark ends the subject.
func (s *scoring) closesHead(m *lexicon.Mark) bool {
	l := &s.p.Lines[m.Line]
	return l.Part == page.InSubject && m.End >= l.End
}

// saidBefore reports whether a word such as "is" stands behind a mark and right before
// a place.
func (s *scoring) saidBefore(mark, i int) bool {
	for k := mark + 1; k < len(s.p.Marks) && s.p.Marks[k].Start < i; k++ {
		if m := &s.p.Marks[k]; m.Class&lexicon.Is != 0 && m.End <= i && s.p.Span(m.End, i).Words == 0 {
			return true
		}
	}
	return false
}

// closesLine reports whether nothing but a full stop follows a phrase on its line, and
// a colon stands before it.
func (s *scoring) closesLine(c *candidate) bool {
	return s.isTied(c) && (page.At(s.p.Low, c.end) < ' ' || page.At(s.p.Low, c.end) == '.' && page.At(s.p.Low, c.end+1) < ' ')
}

// phraseEnd reads words of letters from a place on, joined all by hyphens or all by
// spaces. It returns where they end, or 0 if they are no phrase.
func (p *Reading) phraseEnd(start int) (end int, hyphens bool) {
	words, i, sign := 0, start, rune(0)
	for {
		from := i
		for i < len(p.Low) && p.Kind[i]&page.Spaced != 0 && i-from <= maxPhraseWord {
			i++
		}
		p.Steps += i - from
		if n := i - from; n < minPhraseWord || n > maxPhraseWord {
			return 0, false
		}
		if words, end = words+1, i; words > maxPhrase {
			return 0, false
		}
		next := page.At(p.Low, i)
		if sign == 0 && (next == '-' || next == ' ') {
			sign = next
		}
		if next != sign || i+1 >= len(p.Low) || p.Kind[i+1]&page.Spaced == 0 {
			break
		}
		i++
	}
	next, after := page.At(p.Low, end), page.At(p.Low, end+1)
	closed := next <= ' ' || p.Kind[end]&(page.Spaced|page.Dense|page.Digit) == 0 && next != '-' && next != '@' && next != '/' && (next != '.' || after <= ' ')
	if words < minPhrase || words > maxPhrase || !closed {
		return 0, false
	}
	return end, sign == '-'
}
