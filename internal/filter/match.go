package filter

import (
	"context"
	"math"
	"slices"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/truncate"
)

// Bounds of the work on one mail, in steps: instructions of a pattern times octets that it is matched against, which is the
// worst case of package regexp. A step takes at most some 10 ns.
const (
	// One mail costs some 40 ms at most, whatever its account has stored.
	selectWork  = 1 << 20 // for the patterns of senders and subjects
	extractWork = 3 << 20 // for the patterns of codes

	fromMax    = 512 // octets that are matched
	subjectMax = 1000
	textMax    = 64 << 10
)

// Mail is the part of a mail that filters match. Match uses at most the first fromMax, subjectMax and textMax octets.
type Mail struct {
	From    string // the sender's address
	Subject string
	Text    string // the text of the HTML if there is no text part
}

// cut returns the mail with the parts that are matched. The text gets what the subject leaves of textMax.
func (m Mail) cut() Mail {
	m.From, m.Subject = truncate.Octets(m.From, fromMax), truncate.Octets(m.Subject, subjectMax)
	m.Text = truncate.Octets(m.Text, max(0, textMax-len(m.Subject)-1))
	return m
}

// Found is a code that a filter found. The filter is "" in the result of Try.
type Found struct {
	Code    string // ready to paste
	Display string // as the mail writes it
	Numeric bool   // whether Code has only digits
	Filter  id.Filter
}

// Match returns the code of the first of an account's filters that finds one, in the order of priority and age, or nil.
// domain is the private domain of the mailbox, "" for a public one. The work on a mail for several accounts is divided
// among them.
//
// among is the number of accounts that receive the mail. The error is that of reading the filters; a mail that no
// filter matches is no error.
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

// selected returns the rules whose domain, sender and subject match a mail, in order. A rule whose patterns would
// exceed the remaining work does not match: matching a part of the sender or subject could give wrong results. The
// rules later in the order still get what is left of the work.
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

// selects returns the step at which a mail fails; otp.StepExtract means that it matches.
func (r *rule) selects(m Mail) otp.Step {
	switch {
	case r.from != nil && !r.from.MatchString(m.From):
		return otp.StepFrom
	case r.subject != nil && !r.subject.MatchString(m.Subject):
		return otp.StepSubject
	}
	return otp.StepExtract
}

// extracted returns the first rule that finds a code, and the code. Each gets a fair share of the work, and so of the
// text: what cheap patterns do not need goes to the others.
//
// The rules are tried in order and the first code wins, but the shares are fixed before, so that a rule that finds
// nothing has the same text wherever it stands in the order.
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

// extractFrom searches the first octets of the subject, a newline and the text for a code. step is otp.StepMatched if
// it found one.
func (r *rule) extractFrom(m Mail, octets int) (code string, step otp.Step) {
	subject := truncate.Octets(m.Subject, octets)
	return r.extract.Apply("", subject, truncate.Octets(m.Text, max(0, octets-len(subject)-1)))
}

// fair returns the maximum share of a budget (max-min fairness): needs below it are met in full, all others get the
// same. If all needs can be met there is no maximum, which is math.MaxInt.
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

// Trial is the result of Try. Step is the step at which the mail failed, or otp.StepMatched.
type Trial struct {
	Found   *Found // nil: nothing
	Step    otp.Step
	Builtin otp.Explanation // the result of the built-in extractor
}

// Try matches a mail with patterns as if they were the only filter. where is the pointer to the patterns in the
// request's body, for the error. It stores nothing and has the whole work of a mail for the one rule. Error:
// filter.invalid_regex.
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
