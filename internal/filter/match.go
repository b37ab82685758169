package filter

import (
	"context"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/otp"
)

// The bounds of the work on one mail, in steps: instructions of a pattern times octets that it is matched against,
// which is the most that the matching machine does. A step takes some 10 ns at worst.
const (
	selectWork  = 1 << 20 // for the patterns of senders and subjects
	extractWork = 3 << 20 // for the patterns of codes

	fromMax    = 512 // octets that are looked at
	subjectMax = 1000
	textMax    = 64 << 10
)

// Mail is what filters look at.
type Mail struct {
	From    string // the sender's address
	Subject string
	Text    string // that of the HTML where there is no text part
}

func (m Mail) cut() Mail {
	m.From, m.Subject = cut(m.From, fromMax), cut(m.Subject, subjectMax)
	m.Text = cut(m.Text, max(0, textMax-len(m.Subject)-1))
	return m
}

// Found is a code that a filter found.
type Found struct {
	Code    string // ready to paste
	Display string // as the mail writes it
	Numeric bool   // whether Code is digits alone
	Filter  id.Filter
}

// Match returns what the first of an account's filters finds that yields a code, in the order of priority and age, or
// nil. domain is the private domain that the mailbox lies in, "" for a public one. A mail for several accounts says
// among how many of them its work is shared.
func (s *Service) Match(ctx context.Context, account id.Account, domain id.Domain, m Mail, among int) (*Found, error) {
	rules, err := s.cache.rules(ctx, account)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	m = m.cut()
	among = max(among, 1)
	chosen := selected(rules, domain, m, selectWork/among)
	r, code := extracted(chosen, m, extractWork/among)
	if r == nil {
		return nil, nil
	}
	return found(r.filter, code), nil
}

// selected are the rules that a mail concerns, in order. One whose patterns would exceed what is left of the work does
// not select the mail: to look at a part of a sender or a subject could only mislead.
func selected(rules []*rule, domain id.Domain, m Mail, work int) []*rule {
	var chosen []*rule
	for _, r := range rules {
		if r.domain != "" && r.domain != domain {
			continue
		}
		need := r.fromSize*len(m.From) + r.subjectSize*len(m.Subject)
		if need > work {
			continue
		}
		work -= need
		if r.selects(m) == otp.StepExtract {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

// selects tells at which pattern a mail stops; otp.StepExtract means that it passes.
func (r *rule) selects(m Mail) otp.Step {
	switch {
	case r.from != nil && !r.from.MatchString(m.From):
		return otp.StepFrom
	case r.subject != nil && !r.subject.MatchString(m.Subject):
		return otp.StepSubject
	}
	return otp.StepExtract
}

// extracted is the first rule that yields a code. Each gets a fair share of the work, and so of the text: what short
// patterns do not need goes to the others.
func extracted(rules []*rule, m Mail, work int) (*rule, string) {
	octets := len(m.Subject) + 1 + len(m.Text)
	needs := make([]int, len(rules))
	for i, r := range rules {
		needs[i] = r.textSize * octets
	}
	share := fair(needs, work)
	for _, r := range rules {
		if code, step := r.extractFrom(m, share/r.textSize); step == otp.StepMatched {
			return r, code
		}
	}
	return nil, ""
}

// extractFrom looks for a code in the first octets of subject, newline, text.
func (r *rule) extractFrom(m Mail, octets int) (code string, step otp.Step) {
	subject := cut(m.Subject, octets)
	return r.extract.Apply("", subject, cut(m.Text, max(0, octets-len(subject)-1)))
}

// fair is the most that each of several needs may have of a budget, so that all that need less have what they need and
// the others have as much as each other.
func fair(needs []int, budget int) int {
	needs = slices.Sorted(slices.Values(needs))
	for i, need := range needs {
		if share := budget / (len(needs) - i); need > share {
			return share
		}
		budget -= need
	}
	return math.MaxInt
}

// cut shortens a text to a number of octets, between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Trial is what a filter would do with a mail.
type Trial struct {
	Found   *Found // nil: nothing
	Step    otp.Step
	Builtin otp.Explanation // what the built-in extractor says of the same mail
}

// Try looks what patterns would do with a mail, as if theirs were the only filter. The problem points below where, into
// the request's body. Error: filter.invalid_regex.
func Try(p Patterns, m Mail, where string) (*Trial, error) {
	r, err := p.compile()
	if err != nil {
		return nil, invalid(err, where)
	}
	t := &Trial{Builtin: otp.Explain(otp.Mail{From: m.From, Subject: m.Subject, Text: m.Text})}
	m = m.cut()
	if t.Step = r.selects(m); t.Step != otp.StepExtract {
		return t, nil
	}
	if r, code := extracted([]*rule{r}, m, extractWork); r != nil {
		t.Step, t.Found = otp.StepMatched, found("", code)
	}
	return t, nil
}
