package score

import (
	"github.com/gonebox/gonebox/internal/otp/page"
)

// Numbers that come in pairs: what identifies something, and its secret.

// isSecretOf reports whether a long number in groups stands right before the label
// of a candidate, as do a meeting and its password, or a gift card and its PIN.
func (s *scoring) isSecretOf(k int) bool {
	c := &s.cs[k]
	if k == 0 || c.around.guard+c.around.once > 0 && c.around.void == 0 {
		return false
	}
	o := &s.cs[k-1]
	serial := o.veto != "" && page.At(s.p.Low, o.start+4) == '-' // 7193-6071-9360, of a product
	meeting := o.veto != "" && s.isMeetingID(o) && !(c.named && c.around.auth-c.around.label > 1)
	if !serial && (c.isTold() || !meeting && c.around.auth-c.around.label > 0 && c.around.void == 0) {
		return false
	}
	if o.kind != Numeric || s.cs[k-1].line > c.line || c.line-o.line > 2 || s.groupsIn(o) < 3 || s.isPhone(o) {
		return false
	}
	g := s.p.Span(o.end, c.start)
	far := 4
	if c.start > 0 && s.p.Kind[c.start-1]&page.Dense != 0 {
		far = 6
	}
	return g.Words > 0 && g.Words <= far && (meeting && g.Sentences < 2 || g.Sentences <= s.semicolons(o.end, c.start)) && (g.Soft+g.Hard+g.Sentences > 0 || serial && g.Words <= 3 || s.hasSeparator(o.end, c.start))
}

// pairedWith reports whether another number, which a noun owns, stands right before
// the word for a code in a mail silent about signing in: an account and its PIN.
func (s *scoring) pairedWith(k int) bool {
	c := &s.cs[k]
	if k == 0 || c.name.mark < 0 || c.named || c.isTold() || c.around.guard+c.around.once+c.around.brief > 0 {
		return false
	}
	o, m := &s.cs[k-1], &s.p.Marks[c.name.mark]
	if o.end > m.Start || m.End > c.start || o.size < 6 || o.owner.kind < byNounNearby || o.owner.held {
		return false
	}
	g := s.p.Span(o.end, m.Start)
	return g.Words <= 3 && g.Sentences+g.Soft+g.Hard == 0
}

// isMeetingID reports whether a number is set as those of meetings are: 771 2209 4410.
func (s *scoring) isMeetingID(c *candidate) bool {
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

// isPhone reports whether a number is written as those of telephones are.
func (s *scoring) isPhone(c *candidate) bool {
	return page.At(s.p.Low, c.start-1) == '+' || s.p.Low[c.start] == '0' && s.p.Low[c.start+1] != ' '
}
