// Package diagnosis finds out why a wait for mail ended without a message: what arrived instead, what was refused and why,
// and mail for a similar address (docs/spec/messages.md#why-a-wait-found-nothing).
//
// A diagnosis is made once, when the wait has ended, from the delivery log and the stored messages. Each of its reads is
// bounded, whatever the mailbox or the account has. It reads only what the credential of the wait could read by other
// calls: the mailbox, or the mailboxes of the account. So it never quotes the mail of another owner.
package diagnosis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/resource"
)

// Bounds of the work on a diagnosis, and of its size.
const (
	before       = time.Minute // looked at in addition to the wait
	messagesMax  = 30          // messages that are read
	boxesMax     = 32          // mailboxes whose messages are read
	similarMax   = 500         // mailboxes whose addresses are compared
	refusalsMax  = 20          // entries of the delivery log that are read
	addressesMax = 32          // addresses whose entries are read
	explainedMax = 2 << 10     // octets of the text in which candidates are looked for
	ofCodeMax    = 5           // causes of one code
	causesMax    = 20
)

// Service makes diagnoses. It is safe for concurrent use.
type Service struct {
	clock      clock.Clock
	mailboxes  *mailbox.Service
	messages   *message.Service
	deliveries *deliverylog.Service
}

// New returns a Service.
func New(c clock.Clock, mailboxes *mailbox.Service, messages *message.Service, deliveries *deliverylog.Service) *Service {
	return &Service{c, mailboxes, messages, deliveries}
}

// Wait describes a wait that found nothing.
type Wait struct {
	Began time.Time
	Query allmail.Query // what was waited for; of a mailbox alone, only that of package message

	// Box is the mailbox whose mail was waited for; nil: all mailboxes of Account that Query selects.
	Box *mailbox.Mailbox

	// Account is that of the credential, which can read all of its mail; "": the credential is that of Box alone.
	Account id.Account

	// Discreet leaves out what senders wrote, for a credential that may not read messages.
	Discreet bool
}

// inquiry is the work on one diagnosis. It belongs to one goroutine.
type inquiry struct {
	*Service
	Wait
	since  time.Time // when the time that is looked at begins
	bound  id.Message
	causes []ranked
}

// ranked is a cause with its place among the others: those of lower ranks are likelier.
type ranked struct {
	rank int
	resource.Cause
}

// Diagnose returns the causes for which a wait found nothing. It has at least one.
func (s *Service) Diagnose(ctx context.Context, w Wait) (*resource.Diagnosis, error) {
	q := &inquiry{Service: s, Wait: w, since: w.Began.Add(-before), bound: w.Query.Bound()}
	scope, err := q.scope(ctx)
	if err != nil {
		return nil, err
	}
	steps := []func(context.Context, []mailbox.Holder) error{q.examine, q.findRefusals, q.lookElsewhere}
	for _, step := range steps {
		if err := step(ctx, scope); err != nil {
			return nil, fmt.Errorf("diagnose a wait: %w", err)
		}
	}
	return q.result(), nil
}

// scope returns the mailboxes whose mail was waited for, as far as they may have received mail in the time that is looked at.
func (q *inquiry) scope(ctx context.Context) ([]mailbox.Holder, error) {
	if q.Box != nil {
		return []mailbox.Holder{{ID: q.Box.ID, Address: q.Box.Address, CreatedAt: q.Box.CreatedAt, LastAt: q.clock.Now().Add(before)}}, nil
	}
	filter := mailbox.HolderFilter{Mailbox: q.Query.Mailbox, Domain: q.Query.Domain, Source: q.Query.Source, After: q.since, Max: boxesMax}
	if q.Query.Project != "" {
		filter.Project = mailbox.ProjectAddress(q.Query.Project)
	}
	return q.mailboxes.Holders(ctx, q.Account, filter)
}

// add adds a cause, unless there are enough of its code.
func (q *inquiry) add(rank int, c resource.Cause) {
	n := 0
	for _, other := range q.causes {
		if other.Code == c.Code {
			n++
		}
	}
	if n < ofCodeMax {
		q.causes = append(q.causes, ranked{rank, c})
	}
}

// The ranks of causes.
const (
	rankRefused  = iota
	rankContent  // the message that was meant lacks what was waited for
	rankFiltered // a message was not the one that was meant
	rankBefore
	rankSimilar
	rankElsewhere // a message was for another recipient
)

// result returns the diagnosis. Causes of one rank stay in their order, the newest first.
func (q *inquiry) result() *resource.Diagnosis {
	if len(q.causes) == 0 {
		q.add(0, resource.Cause{Code: resource.CauseNothingArrived, Detail: "No mail for " + q.target() + " arrived during the wait or the minute before it.", At: clock.Stamp{Time: q.clock.Now()}})
		if q.Box != nil {
			q.causes[0].Address = q.Box.Address
		}
	}
	slices.SortStableFunc(q.causes, func(a, b ranked) int { return a.rank - b.rank })
	d := &resource.Diagnosis{Causes: make([]resource.Cause, min(len(q.causes), causesMax))}
	for i := range d.Causes {
		d.Causes[i] = q.causes[i].Cause
	}
	d.Summary = d.Causes[0].Detail
	if more := len(d.Causes) - 1; more > 0 {
		d.Summary = fmt.Sprintf("%s (%d more %s)", strings.TrimSuffix(d.Summary, "."), more, plural(more, "cause", "causes"))
	}
	return d
}

// target names what was waited for.
func (q *inquiry) target() string {
	switch {
	case q.Box != nil:
		return q.Box.Address
	case q.Query.Mailbox != "":
		return quoted(q.Query.Mailbox)
	case q.Query.Project != "":
		return "the project " + quoted(q.Query.Project)
	}
	return "the account"
}

// findRefusals adds the mails for the addresses that were refused.
func (q *inquiry) findRefusals(ctx context.Context, scope []mailbox.Holder) error {
	created, err := q.addresses(ctx, scope)
	if err != nil {
		return err
	}
	after := q.since
	if q.bound != "" {
		const ahead = time.Second // by which the times of messages may be ahead of the clock, so that they sort
		if at := id.Time(q.bound).Add(-ahead); at.After(after) {
			after = at
		}
	}
	all, err := q.deliveries.Refusals(ctx, created, after, refusalsMax)
	if err != nil {
		return err
	}
	for i := range all {
		c, rank := refusal(&all[i]), rankRefused
		if c.Address != "" && !strings.Contains(strings.ToLower(c.Address), strings.ToLower(q.Query.Match.To)) {
			rank = rankElsewhere // the recipient that was waited for is another
		}
		q.add(rank, c)
	}
	return nil
}

// addresses returns the addresses whose refused mail is looked for, each with the creation of its mailbox. All of them
// belong to the credential.
func (q *inquiry) addresses(ctx context.Context, scope []mailbox.Holder) (map[string]time.Time, error) {
	found := make(map[string]time.Time)
	switch {
	case q.Box != nil:
		found[q.Box.Address] = q.Box.CreatedAt
		return found, nil
	case q.Query.Mailbox != "":
		m, err := q.named(ctx, q.Query.Mailbox)
		if m != nil {
			found[m.Address] = m.CreatedAt
		}
		return found, err
	}
	if to := q.Query.Match.To; isAddress(to) {
		if m, err := q.named(ctx, untagged(to)); m != nil || err != nil {
			if m != nil {
				found[m.Address] = m.CreatedAt
			}
			return found, err
		}
	}
	for _, h := range scope[:min(len(scope), addressesMax/2)] {
		found[h.Address] = h.CreatedAt
	}
	newest, err := q.mailboxes.OfAccount(ctx, q.Account, "", addressesMax/2)
	for _, m := range newest {
		isSelected := q.Query.Project == "" || m.Address == mailbox.ProjectAddress(q.Query.Project)
		if isSelected && (q.Query.Domain == "" || q.Query.Domain == m.Domain) && (q.Query.Source == "" || q.Query.Source == m.Source) {
			found[m.Address] = m.CreatedAt
		}
	}
	return found, err
}

// named returns the account's mailbox with an identifier or an address, nil if it has none.
func (q *inquiry) named(ctx context.Context, name string) (m *mailbox.Mailbox, err error) {
	if box, notID := id.Parse[id.Mailbox](name); notID == nil {
		m, err = q.mailboxes.Owned(ctx, q.Account, box)
	} else if m, err = q.mailboxes.At(ctx, name); err == nil && m.Owner.Account != q.Account {
		m = nil
	}
	if problem.Has(err, problem.MailboxNotFound) {
		return nil, nil
	}
	return m, err
}
