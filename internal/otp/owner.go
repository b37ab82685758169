package otp

import (
	"slices"
	"strings"
	"unicode"
)

// named are the classes of words that a number may be bound to.
const named = classCode | classWord | classNumber | classOnce

// beside says whether a word of some class stands right beside a mark, or with
// one small word in between: "code for signing in", "одноразовый код".
func (s *scoring) beside(m int, some class) bool {
	marks := s.p.marks
	k := &marks[m]
	far := 1
	if s.p.kind[k.from]&dense != 0 {
		far = 2 // a word there is two signs
	}
	for o := m - 1; o >= 0 && o >= m-2; o-- {
		if g := s.p.span(marks[o].end, k.start); g.words > far || g.sentences+g.hard+g.soft > 0 {
			break
		} else if marks[o].class&some != 0 && marks[o].class&classUse == 0 {
			return true
		}
	}
	for o := m + 1; o < len(marks) && o <= m+2; o++ {
		if g := s.p.span(k.end, marks[o].start); g.words > far || g.sentences+g.hard+g.soft+g.figures > 0 || s.digitsIn(k.end, marks[o].start) {
			break
		} else if marks[o].class&some != 0 && marks[o].class&classUse == 0 {
			return true
		}
	}
	return false
}

// parted says whether a comma, colon or semicolon stands in a short stretch.
func (s *scoring) parted(from, to int) bool {
	for i := from; i < to && i < from+maxWord; i++ {
		switch s.p.low[i] {
		case ',', ';', ':', '،', '、', '؛':
			return true
		}
	}
	return false
}

// digitsIn says whether a short stretch holds a digit.
func (s *scoring) digitsIn(from, to int) bool {
	for i := from; i < to && i < from+maxWord; i++ {
		if isDigit(s.p.low[i]) {
			return true
		}
	}
	return false
}

// asked says whether a number that is called but a number is one to be typed:
// an imperative or the field it goes into stands in its sentence, or a word of
// signing in beside it.
func (s *scoring) asked(m int, c *candidate) bool {
	if s.owned(m) || s.p.marks[m].from > s.p.marks[m].start {
		return false
	}
	if s.beside(m, classAuth|classOnce|classGuard) {
		return true
	}
	const asks = classUse | classWhere
	for o := m - 1; o >= 0 && o >= m-4; o-- {
		n := &s.p.marks[o]
		if g := s.p.span(n.end, s.p.marks[m].start); g.words > 5 || g.sentences+g.hard > 0 {
			break
		} else if n.class&asks != 0 {
			return true
		}
	}
	for o := m + 1; o < c.mark && o <= m+3; o++ {
		if s.p.marks[o].class&classUse != 0 {
			return true
		}
	}
	for o := c.mark; o < len(s.p.marks) && o <= c.mark+3; o++ {
		n := &s.p.marks[o]
		if g := s.p.span(c.end, n.start); g.words > 5 || g.sentences+g.hard > 0 {
			break
		} else if n.class&asks != 0 {
			return true
		}
	}
	return false
}

// listed says whether a weak word is an item of a list of particulars: "Pune, PIN
// code 411014", "card ending 5520, auth code 204771".
func (s *scoring) listed(m int) bool {
	i := s.p.marks[m].start - 1
	if at(s.p.low, i) == ' ' {
		i--
	}
	switch at(s.p.low, i) {
	case ',', ';', '·', '|', '،', '、':
		return true
	case '-', '–', '—':
		return at(s.p.low, i-1) == ' '
	}
	return false
}

// aimed says whether the sentence of a weak word says what the code is for:
// "the code you need to log in".
func (s *scoring) aimed(m int) bool {
	k := &s.p.marks[m]
	for o := m + 1; o < len(s.p.marks) && o <= m+4; o++ {
		n := &s.p.marks[o]
		if n.class&classAuth == 0 || n.class&classWord != 0 || n.start < k.end {
			continue
		}
		g := s.p.span(k.end, min(n.start, k.end+maxWord))
		return n.start < k.end+maxWord && g.words <= 6 && g.sentences+g.hard+g.soft == 0
	}
	return false
}

// estranged is what a weak word loses to an unknown word that makes another
// code of it: "zone code", "Farbcode". Names of services do not count, which
// are capitals, and no language without a list of words that may stand there.
func (s *scoring) estranged(m int) float64 {
	k := &s.p.marks[m]
	if k.from > k.start {
		if s.mood.silent() {
			return 2
		}
		return 1.4
	}
	if s.p.kind[k.from]&dense != 0 {
		if s.mood.silent() && s.compounded(m) {
			return 1
		}
		return 0
	}
	i := k.start - 1
	if !k.owns {
		if s.mood.silent() && s.modified(m) {
			return 1
		}
		return 0
	}
	if at(s.p.low, i) != ' ' || s.p.kind[i-1]&spaced == 0 {
		return 0
	}
	if m > 0 && s.p.marks[m-1].end == i {
		return 0
	}
	start := s.p.wordStart(i)
	for start > 0 && s.p.kind[start-1]&spaced != 0 && i-start < maxWord {
		start--
	}
	if r := s.p.raw[start]; r >= 'a' && r <= 'z' && !s.p.ofHost(start, i) {
		return 1
	}
	if g := s.p.span(max(0, start-2), start); start == 0 || g.sentences+g.soft+g.hard > 0 {
		return 0.6
	}
	return 0
}

// compounded says whether two letters of a script without spaces stand before a
// word for a code, unknown to the lexicons and no small words: they say which
// code it is.
func (s *scoring) compounded(m int) bool {
	k := &s.p.marks[m]
	i := k.start
	if at(s.p.low, i-1) == ' ' && unicode.Is(unicode.Hangul, s.p.low[k.start]) {
		i--
	}
	if i < 2 || m > 0 && s.p.marks[m-1].end >= i {
		return false
	}
	for _, r := range s.p.low[i-2 : i] {
		if s.p.x.classOf(r) != dense || unicode.Is(unicode.Hiragana, r) || strings.ContainsRune("的您你此本这該该是为為與与和", r) {
			return false
		}
	}
	return true
}

// modified says whether a long word in small letters, unknown to the lexicons,
// stands before a word for a code: it says which code that is.
func (s *scoring) modified(m int) bool {
	i := s.p.marks[m].start - 1
	if at(s.p.low, i) != ' ' || i == 0 || s.p.kind[i-1]&spaced == 0 {
		return false
	}
	start := s.p.wordStart(i)
	if i-start < 6 || !unicode.IsLower(s.p.raw[start]) {
		return false
	}
	return m == 0 || s.p.marks[m-1].end <= start
}

// qualified says whether an unknown common noun stands between a weak word and
// the number, and no "is": "código de cita 482913". Capitals are the name of a
// service.
func (s *scoring) qualified(m int, c *candidate) bool {
	from := s.p.marks[m].end
	if last := &s.p.marks[c.mark-1]; last.class&classIs != 0 && s.p.span(last.end, c.start).words == 0 {
		return false
	}
	next := m + 1
	for i := from; i < c.start && i < from+maxWord; i++ {
		for next < len(s.p.marks) && s.p.marks[next].end <= i {
			next++
		}
		if next < len(s.p.marks) && s.p.marks[next].start <= i {
			i = s.p.marks[next].end
			continue
		}
		if end := s.p.wordEnd(i + 1); s.p.kind[i]&spaced != 0 && s.p.boundary(i) {
			if (unicode.IsLower(s.p.raw[i]) || unicode.Is(unicode.Lo, s.p.raw[i])) && end-i >= 4 && !s.p.ofHost(i, end) {
				return true
			}
			i = end
		}
	}
	return false
}

// owned says whether a weak word belongs to a noun beside it: "order code".
func (s *scoring) owned(m int) bool { return s.ownedBy(m, classNot|classVoid) }

// ownedBy says whether a word belongs to a noun of some class beside it.
func (s *scoring) ownedBy(m int, some class) bool {
	k := &s.p.marks[m]
	before := m - 1
	if before > 0 && s.p.marks[before].class&^(classIs|classOwn) == 0 {
		before--
	}
	for _, o := range [...]int{before, m + 1} {
		if o < 0 || o >= len(s.p.marks) || s.p.marks[o].class&some == 0 || o < m && s.p.marks[o+1].class&classFor != 0 {
			continue
		}
		if s.p.brand(o) {
			continue
		}
		n := &s.p.marks[o]
		from, to := min(k.end, n.end), max(k.start, n.start)
		if g := s.p.span(from, to); g.words <= 1 && g.sentences+g.hard+g.soft == 0 && to-from < 16 && !s.parted(from, to) && !s.digitsIn(from, to) && !(o < m && s.nameIn(from, to)) {
			return true
		}
	}
	return false
}

// nameIn says whether a word in a short stretch begins with a capital, as the
// name of a shop does: "in the shop ELM with the code".
func (s *scoring) nameIn(from, to int) bool {
	return slices.ContainsFunc(s.p.raw[from:to], unicode.IsUpper)
}

// ofHost reports whether a word is part of a host's name: "code shop.example".
func (p *page) ofHost(from, to int) bool {
	return at(p.low, to) == '.' && isLetter(at(p.low, to+1)) || at(p.low, from-1) == '.' && isLetter(at(p.low, from-2))
}
