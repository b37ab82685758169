package score

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// named are the classes of words that a number may be bound to.
const named = lexicon.Code | lexicon.Word | lexicon.Number | lexicon.Once

// isBeside reports whether a word of some class stands right beside a mark, or with
// one small word in between: "code for signing in", "одноразовый код".
func (s *scoring) isBeside(m int, some lexicon.Class) bool {
	marks := s.p.Marks
	k := &marks[m]
	far := 1
	if s.p.Kind[k.From]&page.Dense != 0 {
		far = 2 // a word there is two signs
	}
	for o := m - 1; o >= 0 && o >= m-2; o-- {
		if g := s.p.Span(marks[o].End, k.Start); g.Words > far || g.Sentences+g.Hard+g.Soft > 0 {
			break
		} else if marks[o].Class&some != 0 && marks[o].Class&lexicon.Use == 0 {
			return true
		}
	}
	for o := m + 1; o < len(marks) && o <= m+2; o++ {
		if g := s.p.Span(k.End, marks[o].Start); g.Words > far || g.Sentences+g.Hard+g.Soft > 0 || s.digitsIn(k.End, marks[o].Start) {
			break
		} else if marks[o].Class&some != 0 && marks[o].Class&lexicon.Use == 0 {
			return true
		}
	}
	return false
}

// hasSeparator reports whether a comma, colon or semicolon stands in a short stretch.
func (s *scoring) hasSeparator(from, to int) bool {
	for i := from; i < to && i < from+page.MaxWord; i++ {
		switch s.p.Low[i] {
		case ',', ';', ':', '،', '、', '؛':
			return true
		}
	}
	return false
}

// digitsIn reports whether a short stretch holds a digit.
func (s *scoring) digitsIn(from, to int) bool {
	for i := from; i < to && i < from+page.MaxWord; i++ {
		if page.IsDigit(s.p.Low[i]) {
			return true
		}
	}
	return false
}

// isRequested reports whether a number that is called but a number is one to be typed:
// an imperative or the field it goes into stands in its sentence, or a word for
// one use beside it, or one of signing in, unless the mail reports what has
// happened and neither warns nor names a time.
func (s *scoring) isRequested(m int, c *candidate) bool {
	if s.hasOwner(m) || s.p.Marks[m].From > s.p.Marks[m].Start {
		return false
	}
	if s.isBeside(m, lexicon.Once|lexicon.Guard) || (!s.subject.done || s.subject.guard || s.subject.brief) && s.isBeside(m, lexicon.Auth) {
		return true
	}
	const asks = lexicon.Use | lexicon.Where
	for o := m - 1; o >= 0 && o >= m-4; o-- {
		n := &s.p.Marks[o]
		if g := s.p.Span(n.End, s.p.Marks[m].Start); g.Words > 5 || g.Sentences+g.Hard > 0 {
			break
		} else if n.Class&asks != 0 {
			return true
		}
	}
	for o := m + 1; o < c.mark && o <= m+3; o++ {
		if s.p.Marks[o].Class&lexicon.Use != 0 {
			return true
		}
	}
	for o := c.mark; o < len(s.p.Marks) && o <= c.mark+3; o++ {
		n := &s.p.Marks[o]
		if g := s.p.Span(c.end, n.Start); g.Words > 5 || g.Sentences+g.Hard > 0 {
			break
		} else if n.Class&asks != 0 {
			return true
		}
	}
	return false
}

// isListItem reports whether a weak word is an item of a list of particulars: "Pune, PIN
// code 411014", "card ending 5520, auth code 204771".
func (s *scoring) isListItem(m int) bool {
	i := s.p.Marks[m].Start - 1
	if page.At(s.p.Low, i) == ' ' {
		i--
	}
	switch page.At(s.p.Low, i) {
	case ',', ';', '·', '|', '،', '、':
		return true
	case '-', '–', '—':
		return page.At(s.p.Low, i-1) == ' '
	}
	return false
}

// hasPurpose reports whether the sentence of a weak word says what the code is for:
// "the code you need to log in".
func (s *scoring) hasPurpose(m int) bool {
	k := &s.p.Marks[m]
	for o := m + 1; o < len(s.p.Marks) && o <= m+4; o++ {
		n := &s.p.Marks[o]
		if n.Class&lexicon.Auth == 0 || n.Class&lexicon.Word != 0 || n.Start < k.End {
			continue
		}
		g := s.p.Span(k.End, min(n.Start, k.End+page.MaxWord))
		return n.Start < k.End+page.MaxWord && g.Words <= 6 && g.Sentences+g.Hard+g.Soft == 0
	}
	return false
}

// unknownWord is what a weak word loses to an unknown word that makes another
// code of it: "zone code", "Farbcode". Names of services do not count, which
// are capitals, and no language without a list of words that may stand there.
func (s *scoring) unknownWord(c *candidate, m int) closeness {
	k := &s.p.Marks[m]
	if k.From > k.Start {
		if c.around.isSilent() {
			return compoundSilent
		}
		return 0 // “Anmeldecode”
	}
	if s.p.Kind[k.From]&page.Dense != 0 {
		if c.around.isSilent() && s.isCompound(m) {
			return unknownBefore
		}
		return 0
	}
	i := k.Start - 1
	if !k.Owns {
		if c.around.isSilent() && s.hasModifier(m) {
			return unknownBefore
		}
		return 0
	}
	if page.At(s.p.Low, i) != ' ' || s.p.Kind[i-1]&page.Spaced == 0 {
		return 0
	}
	if m > 0 && s.p.Marks[m-1].End == i {
		return 0
	}
	start := s.p.WordStart(i)
	for start > 0 && s.p.Kind[start-1]&page.Spaced != 0 && i-start < page.MaxWord {
		start--
	}
	if r := s.p.Raw[start]; r >= 'a' && r <= 'z' && !s.p.InHostName(start, i) {
		return unknownBefore
	}
	return 0
}

// isCompound reports whether two letters of a script without spaces stand before a
// word for a code, unknown to the lexicons and no small words: they say which
// code it is.
func (s *scoring) isCompound(m int) bool {
	k := &s.p.Marks[m]
	i := k.Start
	if page.At(s.p.Low, i-1) == ' ' && unicode.Is(unicode.Hangul, s.p.Low[k.Start]) {
		i--
	}
	if i < 2 || m > 0 && s.p.Marks[m-1].End >= i {
		return false
	}
	for _, r := range s.p.Low[i-2 : i] {
		if s.p.Letters.ClassOf(r) != page.Dense || unicode.Is(unicode.Hiragana, r) || strings.ContainsRune("的您你此本这該该是为為與与和", r) {
			return false
		}
	}
	return true
}

// hasModifier reports whether a long word in small letters, unknown to the lexicons,
// stands before a word for a code: it says which code that is.
func (s *scoring) hasModifier(m int) bool {
	i := s.p.Marks[m].Start - 1
	if page.At(s.p.Low, i) != ' ' || i == 0 || s.p.Kind[i-1]&page.Spaced == 0 {
		return false
	}
	start := s.p.WordStart(i)
	if i-start < 6 || !unicode.IsLower(s.p.Raw[start]) {
		return false
	}
	return m == 0 || s.p.Marks[m-1].End <= start
}

// hasQualifier reports whether an unknown common noun stands between a weak word and
// the number, and no "is": "código de cita 482913". Capitals are the name of a
// service.
func (s *scoring) hasQualifier(m int, c *candidate) bool {
	from := s.p.Marks[m].End
	if last := &s.p.Marks[c.mark-1]; last.Class&lexicon.Is != 0 && s.p.Span(last.End, c.start).Words == 0 {
		return false
	}
	next := m + 1
	for i := from; i < c.start && i < from+page.MaxWord; i++ {
		for next < len(s.p.Marks) && s.p.Marks[next].End <= i {
			next++
		}
		if next < len(s.p.Marks) && s.p.Marks[next].Start <= i {
			i = s.p.Marks[next].End
			continue
		}
		if end := s.p.WordEnd(i + 1); s.p.Kind[i]&page.Spaced != 0 && s.p.Boundary(i) {
			if (unicode.IsLower(s.p.Raw[i]) || unicode.Is(unicode.Lo, s.p.Raw[i])) && end-i >= 4 && !s.p.InHostName(i, end) {
				return true
			}
			i = end
		}
	}
	return false
}

// hasOwner reports whether a weak word belongs to a noun beside it: "order code".
func (s *scoring) hasOwner(m int) bool { return s.hasOwnerOf(m, lexicon.Not|lexicon.Void) }

// hasOwnerOf reports whether a word belongs to a noun of some class beside it.
func (s *scoring) hasOwnerOf(m int, some lexicon.Class) bool {
	k := &s.p.Marks[m]
	before := m - 1
	if before > 0 && s.p.Marks[before].Class&^(lexicon.Is|lexicon.Own) == 0 {
		before--
	}
	for _, o := range [...]int{before, m + 1} {
		if o < 0 || o >= len(s.p.Marks) || s.p.Marks[o].Class&some == 0 || o < m && s.p.Marks[o+1].Class&lexicon.For != 0 || s.p.Marks[o].Class&lexicon.For != 0 {
			continue
		}
		if s.p.IsBrand(o) || o > m && s.p.isCounter(o) {
			continue
		}
		n := &s.p.Marks[o]
		from, to := min(k.End, n.End), max(k.Start, n.Start)
		if g := s.p.Span(from, to); g.Words <= 1 && g.Sentences+g.Hard+g.Soft == 0 && to-from < 16 && !s.hasSeparator(from, to) && !s.digitsIn(from, to) && !(o < m && s.nameIn(from, to)) {
			return true
		}
	}
	return false
}

// nameIn reports whether a word in a short stretch begins with a capital, as the
// name of a shop does: "in the shop ELM with the code".
func (s *scoring) nameIn(from, to int) bool {
	return slices.ContainsFunc(s.p.Raw[from:to], unicode.IsUpper)
}
