package filter

import (
	"context"
	"math"
	"slices"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/truncate"
)

// Bounds of the work on one mail. They are in steps: the instructions of a pattern times the octets that it is matched
// against, which is the worst case of package regexp. A step takes at most about 10 ns, so that one mail takes at most
// about 40 ms, whatever filters its account has.
const (
	selectWork  = 1 << 20 // for the patterns of senders and subjects
	extractWork = 3 << 20 // for the patterns of codes
)

// How many octets of a mail are matched.
const (
	fromMax    = 512
	subjectMax = 1000
	textMax    = 64 << 10 // of the subject, a newline and the text
)

// Mail is the part of a mail that filters match. Match uses at most the first fromMax, subjectMax and textMax octets.
type Mail struct {
	From    string // the sender's address
	Subject string
	Text    string // the text part or, if there is none, the text of the HTML part
}

// truncated returns the mail without the octets that are not matched. Subject, newline and text have at most textMax octets
// together.
func (m Mail) truncated() Mail {
	m.From, m.Subject = truncate.Octets(m.From, fromMax), truncate.Octets(m.Subject, subjectMax)
	m.Text = truncate.Octets(m.Text, max(0, textMax-len(m.Subject)-1))
	return m
}

// Found is a code that a filter found.
type Found struct {
	Code    string    // ready to paste
	Display string    // as it is written in the mail
	Numeric bool      // whether Code has only digits
	Filter  id.Filter // "" in the result of Try
}

// Match tries the active filters of an account on a mail, by priority and then by age, and returns the first code that one
// of them finds, or nil. domain is the private domain of the mailbox, or "" if its domain is public. accounts is the
// number of accounts that receive the mail: the work on the mail is divided among them.
//
// An error means that the filters could not be read. It is not an error if no filter matches.
func (s *Service) Match(ctx context.Context, account id.Account, domain id.Domain, m Mail, accounts int) (*Found, error) {
	rules, err := s.cache.rules(ctx, account)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	m = m.truncated()
	accounts = max(accounts, 1)
	selected := selectRules(rules, domain, m, selectWork/accounts)
	r, code := extractCode(selected, m, extractWork/accounts)
	if r == nil {
		return nil, nil
	}
	return newFound(r.filter, code), nil
}

// selectRules returns the rules whose domain, sender and subject match a mail, in order. A rule whose patterns would exceed
// the remaining work is skipped, since matching only a part of the sender or the subject could give a wrong result. The
// rules after it can still use the remaining work.
func selectRules(rules []*rule, domain id.Domain, m Mail, work int) []*rule {
	var selected []*rule
	for _, r := range rules {
		if r.domain != "" && r.domain != domain {
			continue
		}
		cost := r.fromSize*len(m.From) + r.subjectSize*len(m.Subject)
		if cost > work {
			continue
		}
		work -= cost
		if r.checkSelectors(m) == otp.StepExtract {
			selected = append(selected, r)
		}
	}
	return selected
}

// checkSelectors matches the patterns for the sender and the subject. It returns the step at which the mail fails, or
// otp.StepExtract if both match.
func (r *rule) checkSelectors(m Mail) otp.Step {
	switch {
	case r.from != nil && !r.from.MatchString(m.From):
		return otp.StepFrom
	case r.subject != nil && !r.subject.MatchString(m.Subject):
		return otp.StepSubject
	}
	return otp.StepExtract
}

// extractCode returns the first rule that finds a code, and the code, or nil. The rules share the work fairly: what a cheap
// pattern does not need is left to the others.
//
// The share of a rule determines how much of the text it gets. All shares are computed before the first rule is tried, so
// that a rule gets the same text wherever it is in the order.
func extractCode(rules []*rule, m Mail, work int) (*rule, string) {
	octets := len(m.Subject) + 1 + len(m.Text)
	costs := make([]int, len(rules))
	for i, r := range rules {
		costs[i] = r.extractSize * octets
	}
	share := fairShare(costs, work)
	for _, r := range rules {
		if code, step := r.extractFrom(m, share/r.extractSize); step == otp.StepMatched {
			return r, code
		}
	}
	return nil, ""
}

// extractFrom searches for a code in the subject, a newline and the text, of which it uses the given number of octets. step
// is otp.StepMatched if it finds one.
func (r *rule) extractFrom(m Mail, octets int) (code string, step otp.Step) {
	subject := truncate.Octets(m.Subject, octets)
	return r.extract.Apply("", subject, truncate.Octets(m.Text, max(0, octets-len(subject)-1)))
}

// fairShare returns the most that each user of a budget may take, so that the budget is divided fairly (max-min fairness):
// a user that needs less than the share gets all that it needs, and all others get the share. It returns math.MaxInt if the
// budget is enough for all needs.
func fairShare(needs []int, budget int) int {
	needs = slices.Sorted(slices.Values(needs))
	for i, need := range needs {
		if share := budget / (len(needs) - i); need > share {
			return share
		}
		budget -= need
	}
	return math.MaxInt
}

// Trial is the result of Try.
type Trial struct {
	Found   *Found          // nil: the patterns found no code
	Step    otp.Step        // the step at which the mail failed, or otp.StepMatched
	Builtin otp.Explanation // the result of the built-in extractor
}

// Try matches a mail with patterns as if they were the only filter of the only recipient. It stores nothing. pointer is the
// JSON pointer to the object that has the patterns in the request's body, for the error. Error: filter.invalid_regex.
func Try(p Patterns, m Mail, pointer string) (*Trial, error) {
	r, err := p.compile()
	if err != nil {
		return nil, patternProblem(err, pointer)
	}
	t := &Trial{Builtin: otp.Explain(otp.Mail{From: m.From, Subject: m.Subject, Text: m.Text})}
	m = m.truncated()
	if t.Step = r.checkSelectors(m); t.Step != otp.StepExtract {
		return t, nil
	}
	if r, code := extractCode([]*rule{r}, m, extractWork); r != nil {
		t.Step, t.Found = otp.StepMatched, newFound("", code)
	}
	return t, nil
}
