package score

import "github.com/gonebox/gonebox/internal/otp/lexicon"

// briefSecret reports whether the label of a password stands right before a number, and a
// word for minutes or for one use follows: "Password: 596274. The code is good for five
// minutes." A password that stays is none.
func (s *scoring) briefSecret(c *candidate, l nearWord) bool {
	const label, far, marks = lexicon.Not | lexicon.Auth, 120, 8
	m := &s.p.Marks[l.mark]
	if m.Class&label != label || m.Class&lexicon.For != 0 || !l.left || c.kind != Numeric || s.p.Span(m.End, c.start).Words > 0 {
		return false
	}
	for i := c.mark; i < len(s.p.Marks) && i < c.mark+marks && s.p.Marks[i].Start < c.end+far; i++ {
		if s.p.Marks[i].Class&(lexicon.Brief|lexicon.Once) != 0 {
			return s.p.Lines[s.p.Marks[i].Line].Part == s.p.Lines[c.line].Part
		}
	}
	return false
}

// secretName gives such a label right before a number.
func (s *scoring) secretName(c *candidate) name {
	n := name{mark: -1}
	if l := (nearWord{mark: c.mark - 1, left: true}); c.mark > 0 && s.briefSecret(c, l) {
		n.take(s.closenessOf(c, l, c.tie), l)
	}
	return n
}
