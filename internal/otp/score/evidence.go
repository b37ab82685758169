package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// isAfter says whether a verb that ends the sentence follows: "… 123456 है".
func (s *scoring) isAfter(k int) bool {
	c := &s.cs[k]
	m := s.markAfter(c)
	if m == nil || m.Class&lexicon.Is == 0 {
		return false
	}
	g := s.p.Span(c.end, m.Start)
	return g.Words == 0 && g.Sentences+g.Hard == 0 && s.closes(m.End)
}

// closes says whether no word follows in the sentence.
func (s *scoring) closes(i int) bool {
	for ; i < len(s.p.Low); i++ {
		switch s.p.Low[i] {
		case ' ', '"', '”', '»':
		default:
			return s.p.Kind[i]&page.ScriptBits == page.Other
		}
	}
	return true
}

// dashAfter says whether a dash or colon follows: "123456 — your code".
func (s *scoring) dashAfter(c *candidate) bool {
	i := c.end
	if page.At(s.p.Low, i) == ' ' {
		i++
	}
	r, next := page.At(s.p.Low, i), page.At(s.p.Low, i+1)
	return (r == '-' || r == ':' || r == '=') && next == ' '
}

// ends says whether a candidate ends its sentence or line.
func (s *scoring) ends(c *candidate) bool {
	switch r := page.At(s.p.Low, c.end); r {
	case page.SoftBreak, page.HardBreak, page.CellBreak, 0, '。', '।', '۔', '။', '។', '։', '።', '!', '！':
		return true
	case '.':
		return s.p.SentenceEnd(c.end)
	}
	return false
}

// tied says whether a colon or an equals sign leads to the candidate.
func (s *scoring) tied(c *candidate) bool {
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

// evident says whether letters are bound tightly enough to be a code.
func (s *scoring) evident(c *candidate, gain float64, tie bool) bool {
	if c.letters {
		return gain > 3 && (tie || c.lone) && (c.boxed || !s.known(c)) && page.At(s.p.Low, c.end) != ':'
	}
	if c.upper {
		return gain >= 3 || gain > 1 && c.mixed && c.start == s.p.Lines[c.line].Start || s.opens(c) && s.topic.not+s.topic.void == 0 || c.instructed && (c.mixed || s.topic.auth > 0)
	}
	return gain >= 3 && (tie || c.lone)
}

// opening is where a line begins to say something: in a subject that is after a
// sign, and after the name of the sender in brackets or before a colon.
func (p *Reading) opening(l *page.Line) int {
	const far = 40
	if l.Part != page.InSubject {
		return l.Start
	}
	end := min(l.End, l.Start+far)
	i := p.afterSigns(l.Start, end)
	for j := i; j < end; j++ {
		switch r := p.Low[j]; {
		case page.IsDigit(r):
			return i
		case r == ']' || r == ')' || r == '】' || r == ':' && p.Span(i, j).Words <= 3:
			if k := p.MarkFrom(i, 0); k < len(p.Marks) && p.Marks[k].Start < j {
				return i // it names something
			}
			return p.afterSigns(j+1, end)
		}
	}
	return i
}

// afterSigns is the first letter or digit from a place on, or the end.
func (p *Reading) afterSigns(i, end int) int {
	for i < end && p.Kind[i]&page.ScriptBits == page.Other {
		i++
	}
	return i
}

// opens says whether letters and digits are the first of the subject.
func (s *scoring) opens(c *candidate) bool {
	l := &s.p.Lines[c.line]
	return c.upper && !c.letters && l.Part == page.InSubject && c.start == s.p.opening(l) && !c.lone
}

// known says whether a word is in the lexicon: VERIFY on a button.
func (s *scoring) known(c *candidate) bool {
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
