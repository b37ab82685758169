package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// isMergeRequest reports whether a number is written as a merge request is: "!2048".
func (s *scoring) isMergeRequest(c *candidate) bool {
	before := page.At(s.p.Low, c.start-2)
	return page.At(s.p.Low, c.start-1) == '!' && (before <= ' ' || before == '(' || before == '[')
}

// isTicket reports whether letters, a hyphen and up to five digits are the key of a ticket in a
// mail that mentions a code: "AUTH-2048: sign-in code is not sent". In a subject it is one
// unless a word right beside it makes it a code, in a text only before a colon.
func (s *scoring) isTicket(k int) bool {
	c := &s.cs[k]
	if !s.isKey(c) || c.lone || c.tie && !s.p.IsReply() {
		return false
	}
	before, after := page.At(s.p.Low, c.start-1), page.At(s.p.Low, c.end)
	subject := s.p.Lines[c.line].Part == page.InSubject
	switch {
	case subject && (before == '[' || before == '(') && (after == ']' || after == ')'):
		return true
	case !subject && after != ':':
		return false
	case s.hasOrderBefore(c), s.namedBefore(c):
		return false
	}
	return s.mentions(c) && !s.saidToBe(c)
}

// issues rejects the keys of issues in a list: two or more of them that nothing says to be
// codes, or one that a bullet leads to and a title follows.
func (s *scoring) issues() {
	first, several := -1, false
	for k := range s.cs {
		if c := &s.cs[k]; c.veto == "" && s.isListedKey(k) {
			switch {
			case s.hasBullet(c), s.titledByCode(c):
				c.veto = anIssue
			case first < 0:
				first = k
			default:
				several = several || s.p.sum(c) != s.p.sum(&s.cs[first])
			}
		}
	}
	for k := first; several && k < len(s.cs); k++ {
		if c := &s.cs[k]; c.veto == "" && s.isListedKey(k) {
			c.veto = anIssue
		}
	}
}

// titledByCode reports whether a sentence about a code stands behind a key on its
// line: "OPS-1183 Verification code is not sent".
func (s *scoring) titledByCode(c *candidate) bool {
	if c.name.mark < 0 || c.lone || c.isTold() || s.p.Lines[c.line].Part == page.InSubject {
		return false
	}
	m := &s.p.Marks[c.name.mark]
	if l := &s.p.Lines[c.line]; m.Start < c.end || m.End >= l.End {
		return false
	}
	return s.p.Span(m.End, min(s.p.Lines[c.line].End, m.End+page.MaxWord)).Words > 1
}

// isListedKey reports whether a candidate is such a key with a title behind it, or alone on one
// of two neighbouring lines.
func (s *scoring) isListedKey(k int) bool {
	c := &s.cs[k]
	switch {
	case !s.isKey(c) || s.isLedTo(c) || s.saidToBe(c) && !s.hasBullet(c):
		return false
	case c.lone:
		return k > 0 && s.areNeighbours(&s.cs[k-1], c) || k+1 < len(s.cs) && s.areNeighbours(c, &s.cs[k+1])
	}
	return true
}

// areNeighbours reports whether two keys stand alone on neighbouring lines.
func (s *scoring) areNeighbours(a, b *candidate) bool {
	return s.isKey(a) && a.lone && b.lone && b.line-a.line == 1 && s.p.sum(a) != s.p.sum(b)
}

// hasBullet reports whether a bullet or a box to be ticked stands before a candidate, which
// begins its line otherwise.
func (s *scoring) hasBullet(c *candidate) bool {
	i := c.start - 1
	for i >= 0 && (s.p.Low[i] == ' ' || s.p.Low[i] == '[' || s.p.Low[i] == ']') {
		i--
	}
	switch page.At(s.p.Low, i) {
	case '-', '*', '+', '•', '·', '◦', '▪', '‣', '☐', '☑', '✓', '✔':
		return i == s.p.Lines[c.line].Start && !c.lone && i < c.start-1
	}
	return false
}

// mentions reports whether a word for a code stands near a candidate on its line.
func (s *scoring) mentions(c *candidate) bool {
	const near = 4 // marks
	l := &s.p.Lines[c.line]
	for k := max(0, c.mark-near); k < min(len(s.p.Marks), c.mark+near); k++ {
		if m := &s.p.Marks[k]; m.Start >= l.Start && m.Start < l.End && m.Class&(lexicon.Code|lexicon.Word) != 0 {
			return true
		}
	}
	return false
}

// isKey reports whether a candidate is made of capitals, a hyphen and up to five digits.
func (s *scoring) isKey(c *candidate) bool {
	const longest = 5 // digits
	if c.kind != Alphanumeric || c.groups != 2 || !c.upper {
		return false
	}
	i := c.end
	for i > c.start && page.IsDigit(s.p.Low[i-1]) {
		i--
	}
	return i < c.end && c.end-i <= longest && page.At(s.p.Low, i-1) == '-' && page.IsLetter(page.At(s.p.Low, i-2))
}

// saidToBe reports whether "is" follows a candidate at once, or a name of a code that ends
// the line: "FHL-4820: your sign-in code".
func (s *scoring) saidToBe(c *candidate) bool {
	const far = 3 // words before the name
	for k := c.mark; k < len(s.p.Marks) && k <= c.mark+3; k++ {
		m := &s.p.Marks[k]
		words := s.p.Span(c.end, m.Start).Words
		switch {
		case m.Class&lexicon.Is != 0 && words == 0:
			return true
		case m.Class&(lexicon.Code|lexicon.Word) != 0 && m.End >= s.p.Lines[c.line].End && words <= far:
			return true
		}
	}
	return false
}
