package score

import (
	"github.com/gonebox/gonebox/internal/otp/page"
)

// Numbers that come in pairs: what identifies something, and its secret.

// secretOf says whether a long number in groups stands right before the label
// of a candidate, as do a meeting and its password, or a gift card and its PIN.
func (s *scoring) secretOf(k int) bool {
	if k == 0 || s.topic.guard+s.topic.once > 0 && s.topic.void == 0 {
		return false
	}
	o, c := &s.cs[k-1], &s.cs[k]
	serial := o.veto != "" && page.At(s.p.Low, o.start+4) == '-' // 7193-6071-9360, of a product
	meeting := o.veto != "" && s.meetingID(o) && !(c.firm && s.topic.auth-s.topic.label > 1)
	if !serial && (c.instructed || !meeting && s.topic.auth-s.topic.label > 0 && s.topic.void == 0) {
		return false
	}
	if o.kind != Numeric || s.cs[k-1].line > c.line || c.line-o.line > 2 || s.groupsIn(o) < 3 || s.phone(o) {
		return false
	}
	g := s.p.Span(o.end, c.start)
	far := 4
	if c.start > 0 && s.p.Kind[c.start-1]&page.Dense != 0 {
		far = 6
	}
	return g.Words > 0 && g.Words <= far && (meeting && g.Sentences < 2 || g.Sentences <= s.semicolons(o.end, c.start)) && (g.Soft+g.Hard+g.Sentences > 0 || serial && g.Words <= 3 || s.parted(o.end, c.start))
}

// pairedWith says whether another number, which a noun owns, stands right before
// the word for a code in a mail silent about signing in: an account and its PIN.
func (s *scoring) pairedWith(k int) bool {
	c := &s.cs[k]
	if k == 0 || c.anchor < 0 || c.firm || c.instructed || s.topic.guard+s.topic.once+s.topic.brief > 0 {
		return false
	}
	o, m := &s.cs[k-1], &s.p.Marks[c.anchor]
	if o.end > m.Start || m.End > c.start || o.size < 6 || o.against > -3 {
		return false
	}
	g := s.p.Span(o.end, m.Start)
	return g.Words <= 3 && g.Sentences+g.Soft+g.Hard == 0
}

// meetingID says whether a number is set as those of meetings are: 771 2209 4410.
func (s *scoring) meetingID(c *candidate) bool {
	n := c.end - c.start
	return s.groupsIn(c) == 3 && page.At(s.p.Low, c.start+3) == ' ' && (n == 13 && page.At(s.p.Low, c.start+8) == ' ' || n <= 12 && n > 10 && page.At(s.p.Low, c.start+7) == ' ')
}

// semicolons counts those between two places, which part what is listed and end
// no sentence.
func (s *scoring) semicolons(from, to int) (n int) {
	for i := from; i < min(to, from+page.MaxWord); i++ {
		if s.p.Low[i] == ';' {
			n++
		}
	}
	return n
}

// groupsIn counts the groups of a number of nine digits and more.
func (s *scoring) groupsIn(c *candidate) int {
	digits, groups := 0, 0
	for i := c.start; i < c.end; i++ {
		if page.IsDigit(s.p.Low[i]) {
			if digits++; i == c.start || !page.IsDigit(s.p.Low[i-1]) {
				groups++
			}
		}
	}
	if digits < 9 || digits > maxSecretOf {
		return 0
	}
	return groups
}

// maxSecretOf is how many digits there are in a number that has a secret: those of
// cards are the longest. References of payments are longer.
const maxSecretOf = 19

// phone says whether a number is written as those of telephones are.
func (s *scoring) phone(c *candidate) bool {
	return page.At(s.p.Low, c.start-1) == '+' || s.p.Low[c.start] == '0' && s.p.Low[c.start+1] != ' '
}
