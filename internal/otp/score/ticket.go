package score

import (
	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

// request says whether a number is written as a merge request is: "!2048".
func (s *scoring) request(c *candidate) bool {
	before := page.At(s.p.Low, c.start-2)
	return page.At(s.p.Low, c.start-1) == '!' && (before <= ' ' || before == '(' || before == '[')
}

// ticket says whether letters, a hyphen and up to five digits are the key of a ticket in a
// mail that mentions a code: "AUTH-2048: sign-in code is not sent". In a subject it is one
// unless a word right beside it makes it a code, in a text only before a colon.
func (s *scoring) ticket(k int) bool {
	c := &s.cs[k]
	if !s.key(c) || c.lone || c.tie && !s.topic.reply {
		return false
	}
	before, after := page.At(s.p.Low, c.start-1), page.At(s.p.Low, c.end)
	subject := s.p.Lines[c.line].Part == page.InSubject
	switch {
	case subject && (before == '[' || before == '(') && (after == ']' || after == ')'):
		return true
	case !subject && after != ':':
		return false
	case s.ordered(c), s.namedBefore(c):
		return false
	}
	return s.mentions(c) && !s.saidToBe(c)
}

// mentions says whether a word for a code stands near a candidate on its line.
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

// key says whether a candidate is made of capitals, a hyphen and up to five digits.
func (s *scoring) key(c *candidate) bool {
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

// saidToBe says whether "is" follows a candidate at once, or a name of a code that ends
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
