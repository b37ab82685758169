package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// isAfter reports whether a verb that ends the sentence follows: "… 123456 है".
func (s *scoring) isAfter(k int) bool {
	c := &s.cs[k]
	m := s.markAfter(c)
	if m == nil || m.Class&lexicon.Is == 0 {
		return false
	}
	g := s.p.Span(c.end, m.Start)
	return g.Words == 0 && g.Sentences+g.Hard == 0 && s.endsSentence(m.End)
}

// endsSentence reports whether no word follows in the sentence.
func (s *scoring) endsSentence(i int) bool {
	for ; i < len(s.p.Low); i++ {
		switch s.p.Low[i] {
		case ' ', '"', '”', '»':
		default:
			return s.p.Kind[i]&page.ScriptBits == page.Other
		}
	}
	return true
}

// dashAfter reports whether a dash or colon follows: "123456 — your code".
func (s *scoring) dashAfter(c *candidate) bool {
	i := c.end
	if page.At(s.p.Low, i) == ' ' {
		i++
	}
	r, next := page.At(s.p.Low, i), page.At(s.p.Low, i+1)
	return (r == '-' || r == ':' || r == '=') && next == ' '
}

// endsLine reports whether a candidate ends its sentence or line.
func (s *scoring) endsLine(c *candidate) bool {
	switch r := page.At(s.p.Low, c.end); r {
	case page.SoftBreak, page.HardBreak, page.CellBreak, 0, '。', '।', '۔', '။', '។', '։', '።', '!', '！':
		return true
	case '.':
		return s.p.SentenceEnd(c.end)
	}
	return false
}

// isTied reports whether a colon or an equals sign leads to the candidate.
func (s *scoring) isTied(c *candidate) bool {
	for i := c.start - 1; i >= 0 && i >= c.start-5; i-- {
		switch r := s.p.Low[i]; r {
		case ':', '=', '：', '>', '→', '➡', '–':
			return true
		case ' ', '*', '_', '"', '\'', '«', '“', '「', '【', '[', '(', page.CellBreak, page.SoftBreak, page.HardBreak, '-', '#':
		default:
			return false
		}
	}
	return false
}

// isEvident reports whether letters are bound tightly enough to be a code.
func (s *scoring) isEvident(c *candidate) bool {
	if c.letters {
		return c.closeness() > notFar && (c.name.led || c.lone && s.isIntroduced(c)) && (c.boxed || !s.isKnownWord(c)) && page.At(s.p.Low, c.end) != ':'
	}
	if c.upper {
		return c.closeness() >= notFar || c.closeness() > somewhere && c.mixed && c.start == s.p.Lines[c.line].Start || s.opensSubject(c) && c.around.not+c.around.void == 0 || c.isTold() && (c.mixed || c.around.auth > 0)
	}
	return c.closeness() >= notFar && (c.name.led || c.lone || s.smallNamed(c))
}

// smallNamed reports whether a name of a code stands right beside small letters and digits
// that begin or end their sentence, "k7m2pq is your verification code", or that are to be entered in order to sign in,
// "use the code k7m2pq to sign in".
func (s *scoring) smallNamed(c *candidate) bool {
	if !c.small || c.name.mark < 0 {
		return false
	}
	m := &s.p.Marks[c.name.mark]
	return c.named && (c.start == s.p.Lines[c.line].Start || s.endsLine(c)) ||
		c.order.aimed && m.Class&(lexicon.Code|lexicon.Word) != 0 && m.End <= c.start && s.p.Span(m.End, c.start) == page.Gap{}
}

// isIntroduced reports whether what names a code leads up to letters alone on their line: no
// sentence about the code ends in between ("Your code is on its way to your phone."), but
// for one that asks to enter it or points at it ("Your code is below.").
func (s *scoring) isIntroduced(c *candidate) bool {
	const far = 1 // words
	if c.name.mark < 0 || c.isTold() || c.boxed || s.instructedAbove(c) {
		return true
	}
	m, last := &s.p.Marks[c.name.mark], &s.p.Marks[max(0, c.mark-1)]
	if m.Start >= c.end || last.Class&lexicon.Own != 0 && s.p.Span(last.End, c.start).Words == 0 {
		return true
	}
	g := s.p.Span(m.End, c.start)
	return g.Words <= far && g.Sentences == 0
}

// lineOpening is where a line begins to say something: in a subject that is after a
// sign, and after the name of the sender in brackets or before a colon.
func (p *Reading) lineOpening(l *page.Line) int {
	const far = 40
	if l.Part != page.InSubject {
		return l.Start
	}
	end := min(l.End, l.Start+far)
	i := p.skipSigns(l.Start, end)
	for j := i; j < end; j++ {
		switch r := p.Low[j]; {
		case page.IsDigit(r):
			return i
		case r == ']' || r == ')' || r == '】' || r == ':' && p.Span(i, j).Words <= 3:
			if k := p.MarkFrom(i, 0); k < len(p.Marks) && p.Marks[k].Start < j {
				return i // it names something
			}
			return p.skipSigns(j+1, end)
		}
	}
	return i
}

// skipSigns is the first letter or digit from a place on, or the end.
func (p *Reading) skipSigns(i, end int) int {
	for i < end && p.Kind[i]&page.ScriptBits == page.Other {
		i++
	}
	return i
}

// opensSubject reports whether letters and digits are the first of the subject.
func (s *scoring) opensSubject(c *candidate) bool {
	l := &s.p.Lines[c.line]
	return c.upper && !c.letters && l.Part == page.InSubject && c.start == s.p.lineOpening(l) && !c.lone
}

// isKnownWord reports whether a word is in the lexicon: VERIFY on a button.
func (s *scoring) isKnownWord(c *candidate) bool {
	for i := max(0, c.mark-1); i < len(s.p.Marks) && s.p.Marks[i].Start < c.end; i++ {
		if s.p.Marks[i].End > c.start {
			return true
		}
	}
	return false
}

// boundToDomain recognises the last line of a domain-bound code: @host #123456.
func (s *scoring) boundToDomain(c *candidate) bool {
	low := s.p.Low
	i := c.start - 1
	if page.At(low, i) != '#' || page.At(low, i-1) != ' ' {
		return false
	}
	dot := false
	for i -= 2; i >= 0 && c.start-i < 256; i-- {
		switch r := low[i]; {
		case r == '@':
			return dot && (i == 0 || low[i-1] <= ' ')
		case r == '.':
			dot = true
		case !page.IsAlnum(r) && r != '-':
			return false
		}
	}
	return false
}
