package score

import (
	"strings"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// What is looked at in one mail. A mail that holds a code holds it early.
const (
	maxCandidates = 256
	maxCode       = 10 // digits; letters and digits may be two more
)

// candidate is a number or word that might be the code.
type candidate struct {
	start, end int
	kind       Kind
	size       int // letters and digits
	groups     int // 1 when not grouped
	upper      bool
	letters    bool // letters alone
	lone       bool // nothing else on its line
	mixed      bool // capitals and digits that change places: 8WD5M
	small      bool // small letters and digits that change places: k7m2pq
	boxed      bool // one digit to a cell or box
	pointed    bool // in groups with points or of two sizes: 839.026, 719-25
	counted    int  // the word that decides about a short group behind it (see pieces), or 0
	veto       string
	form       form
	year       bool // four digits that read as a year of our time: 2024
	example    bool // the digits of an example: 123456, 0000, 1 2 3 4 5 6
	zeros      bool // three zeros at its end: 48000

	facts

	score   float64
	taken   bool // its word belongs to another number, whose score is greater
	reasons []reason
}

// value is the code as it is to be pasted.
func (p *Reading) value(c *candidate) string {
	if c.kind == Phrase {
		return p.Shown(c.start, c.end)
	}
	var b strings.Builder
	for _, r := range p.Raw[c.start:c.end] {
		r = p.Letters.Plain(r)
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		case r == '-' && c.kind == Alphanumeric:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// findCandidates scans the page for what has the shape of a code, and for
// what has not although it holds four digits, so that it can be explained.
func (p *Reading) findCandidates() {
	s := scanner{p: p, low: p.Low, found: p.found}
	for len(s.found) < maxCandidates && s.seek() {
		s.next()
	}
	p.found = s.found
}

// scanner walks over the folded runes of a page.
type scanner struct {
	p     *Reading
	low   []rune
	i     int
	found []candidate
}

// seek moves on to the next run of letters and digits that may be more than a
// word in small letters, and returns false if there is none: before a digit, a
// capital or a sign, next would only pass over what it reads.
func (s *scanner) seek() bool {
	i := s.p.Next(s.i, page.HotBit)
	for i < len(s.low) && s.endsWord(i) {
		i = s.p.Next(i+1, page.HotBit)
	}
	if i == len(s.low) {
		return false
	}
	for i > s.i && page.IsAlnum(s.low[i-1]) {
		i--
	}
	s.i = i
	return true
}

// endsWord reports whether a sign stands behind a word in small letters and before a gap,
// as most signs do. No candidate or address begins with such a word.
func (s *scanner) endsWord(i int) bool {
	switch s.low[i] {
	case '.', ':', ';', '!', '?':
		return page.At(s.low, i+1) <= ' ' && i-s.i >= 2 && page.IsLetter(s.low[i-1]) && page.IsLetter(s.low[i-2])
	}
	return false
}

// next reads one run of letters and digits, with all that belongs to it.
func (s *scanner) next() {
	low, raw, start := s.low, s.p.Raw[:len(s.low)], s.i
	for start < len(low) && !page.IsAlnum(low[start]) {
		start++
	}
	if s.i = start; start >= len(low) {
		return
	}
	end, digits, capitals := start, 0, 0
	for ; end < len(low); end++ {
		if r := low[end]; page.IsLetter(r) {
			if end > start && raw[end] <= 'Z' {
				capitals++
			}
		} else if page.IsDigit(r) {
			digits++
		} else {
			break
		}
	}
	next := page.At(low, end)
	if next > ' ' && next < 0x7F && next != ',' {
		if stop := s.address(start); stop > start {
			s.i = stop
			return
		}
	}
	switch {
	case end-start == 1 && s.boxes(start):
	case digits == end-start && next == '-' && s.startsCapitals(end+1):
		s.word(start, end)
	case digits == end-start:
		s.number(start, end)
	case digits+capitals == 0 && next != '-':
		s.i = end
	default:
		s.word(start, end)
	}
}

// startsCapitals reports whether a run of digits and capitals begins at a place, as the
// second part of 48-2Q7-KM does, and the ending of "482913-at" does not.
func (s *scanner) startsCapitals(i int) (yes bool) {
	for ; i < len(s.low) && page.IsAlnum(s.low[i]); i++ {
		if r := s.p.Raw[i]; page.IsLetter(r) {
			return false
		} else if page.IsLetter(s.low[i]) {
			yes = true
		}
	}
	return yes
}

func (s *scanner) run(i int) int {
	for i < len(s.low) && page.IsAlnum(s.low[i]) {
		i++
	}
	return i
}

// address passes over a URL, a mail address or a host with a path, of which no
// part is a candidate. It returns where it ends, or start if there is none.
func (s *scanner) address(start int) int {
	if start > 0 && s.inToken(s.low[start-1]) && s.low[start-1] != ':' {
		return start
	}
	end, dot, slash, found := start, -1, false, false
scan:
	for ; end < len(s.low) && s.inToken(s.low[end]); end++ {
		s.p.Steps++
		switch s.low[end] {
		case '@':
			found = true
		case '.':
			dot = end
		case '/':
			slash = slash || dot > start && page.IsLetter(s.low[dot-1]) && end-dot > 2 && page.IsLetter(s.low[end-1])
		case ':':
			if end+2 < len(s.low) && s.low[end+1] == '/' && s.low[end+2] == '/' {
				found = true
			} else if !found && !slash {
				break scan
			}
		}
	}
	if found {
		end = max(end, s.p.TextLink(start, end))
	}
	if found || slash || end-start >= 4 && s.low[start] == 'w' && s.low[start+1] == 'w' && s.low[start+2] == 'w' && s.low[start+3] == '.' {
		return end
	}
	return start
}

// inToken reports whether r may be part of a URL or address.
func (s *scanner) inToken(r rune) bool {
	return r > ' ' && r < 0x7F && r != '<' && r != '>' && r != '"' && r != '(' && r != ')' && r != '[' && r != ']' && r != '|' && r != '*' && r != ','
}

// add keeps a candidate and moves on.
func (s *scanner) add(c candidate) {
	s.i = max(c.end, s.i+1)
	if c.groups == 0 {
		c.groups = 1
	}
	c.name.mark = -1
	l := &s.p.Lines[s.p.LineAt(c.start)]
	c.lone = s.p.isAlone(l, &c)
	s.found = append(s.found, c)
}

// isAlone reports whether nothing but a candidate is on a line.
func (p *Reading) isAlone(l *page.Line, c *candidate) bool {
	if l.End-l.Start > page.MaxLone {
		return false
	}
	for i := l.Start; i < l.End; i++ {
		p.Steps++
		if i == c.start {
			i = c.end
			if i >= l.End {
				break
			}
		}
		if p.Letters.ClassOf(p.Low[i]) != page.Other {
			return false
		}
	}
	return true
}
