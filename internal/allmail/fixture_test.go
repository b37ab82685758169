package allmail_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/search"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// fixture is a Service on a database, and what stores mail in it.
type fixture struct {
	*allmail.Service
	t         testing.TB
	db        *db.DB
	clock     *clock.Fake
	mailboxes *mailbox.Service
	messages  *message.Service
	account   id.Account
	parts     allmail.Parts

	afterHolders func() // called by Holders after it has read, once; may be nil
	holderReads  int    // calls of Holders
	afterUpdate  func() // called after each transaction of a change, once; may be nil
}

// Holders calls afterHolders between the read of the mailboxes and that of their messages.
func (w *fixture) Holders(ctx context.Context, account id.Account, f mailbox.HolderFilter) ([]mailbox.Holder, error) {
	all, err := w.mailboxes.Holders(ctx, account, f)
	w.holderReads++
	if fn := w.afterHolders; fn != nil {
		w.afterHolders = nil
		fn()
	}
	return all, err
}

// MailboxLimits returns the same limits for every owner.
func (w *fixture) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return mailbox.Limits{TTLDefault: time.Hour, TTLMax: 24 * time.Hour, LifetimeMax: 24 * time.Hour, LiveMax: 100_000, DailyMail: 1_000_000}, nil
}

func (w *fixture) MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(id.Account, mailbox.Limits)) error {
	for _, a := range accounts {
		l, _ := w.MailboxLimits(ctx, a)
		found(a, l)
	}
	return nil
}

// Choose returns the only domain.
func (w *fixture) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return "example.org", "", nil
}

// HoldersTx does nothing: there are no private domains.
func (w *fixture) HoldersTx(context.Context, *db.Tx, []string, func(string, id.Account, id.Domain)) error {
	return nil
}

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// run runs a test on each engine.
func run(t *testing.T, test func(t *testing.T, w *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) { test(t, newFixture(t, d)) })
}

func newFixture(t testing.TB, d *db.DB) *fixture {
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, db: d, clock: clock.NewFake(noon()), account: id.New[id.Account](noon())}
	hub := wake.New()
	w.mailboxes = mailbox.New(mailbox.Parts{
		DB: d, Clock: w.clock, Keys: keys, Wake: hub, Plans: w, Domains: w, HoldSecret: []byte("hold"), Policy: mailbox.Policy{MaxMessages: 100_000},
	})
	w.messages = message.New(message.Parts{DB: d, Clock: w.clock, Wake: hub, Mailboxes: w.mailboxes, Policy: message.Policy{PreviewLength: 200}})
	w.parts = allmail.Parts{
		Clock: w.clock, Wake: hub, Mailboxes: w, Messages: w.messages,
		Follow: follow.New(follow.Parts{Clock: w.clock, Wake: hub, Mailboxes: w.mailboxes, Messages: w.messages}),
	}
	w.Service = allmail.New(w.parts)
	return w
}

// UpdatePaced runs a transaction, and then afterUpdate.
func (w *fixture) UpdatePaced(ctx context.Context, fn func(context.Context, *db.Tx) error) error {
	err := w.mailboxes.UpdatePaced(ctx, fn)
	if fn := w.afterUpdate; fn != nil {
		w.afterUpdate = nil
		fn()
	}
	return err
}

// create creates a mailbox of the account.
func (w *fixture) create() *mailbox.Mailbox {
	w.t.Helper()
	m, err := w.mailboxes.Create(w.t.Context(), mailbox.CreateParams{}, mailbox.Owner{Account: w.account})
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// deliver stores a message in each of the mailboxes, in one transaction, with the subjects "first", "first+1" and so on.
func (w *fixture) deliver(first int, boxes ...*mailbox.Mailbox) {
	w.t.Helper()
	err := w.db.UpdateLocked(w.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		var addresses []string
		for _, m := range boxes {
			addresses = append(addresses, m.Address)
		}
		b, err := w.mailboxes.BatchTx(ctx, tx, addresses, nil)
		if err != nil {
			return err
		}
		var copies []message.Copy
		for i, a := range addresses {
			n := first + i
			text := fmt.Sprintf("Hello user, this is mail number %d. Your sign-in code is %06d. ", n, n) + strings.Repeat("It is valid for ten minutes. ", 5)
			draft, _ := w.messages.NewDraft(nil, message.Content{
				From: message.Address{Name: "App", Address: fmt.Sprintf("app%d@company.test", n%50)}, To: []message.Address{{Address: a}}, Subject: fmt.Sprint(n),
				MessageID: fmt.Sprintf("%d@company.test", n), Text: text, Size: 500, Headers: []message.Header{{Name: "Subject", Value: fmt.Sprint(n)}, {Name: "To", Value: a}},
			}, 1)
			reserved, err := b.Reserve([]string{a})
			if err != nil {
				return err
			}
			for _, r := range reserved {
				copies = append(copies, message.Copy{Draft: draft, Delivery: message.Delivery{
					Box: r.Box, Message: r.Message, ReceivedAt: r.At, To: []string{a}, Raw: "raw", RawUntil: r.At.Add(time.Hour),
				}})
			}
		}
		if err := w.messages.InsertTx(ctx, tx, copies); err != nil {
			return err
		}
		return b.SaveTx(ctx, tx)
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
}

// list returns the subjects of a page, newest first, and the newest message of it.
func (w *fixture) list(q allmail.Query) (subjects string, newest id.Message) {
	w.t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	page, err := w.List(w.t.Context(), w.account, q)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for i, m := range page.Messages {
		summary, err := m.Decode()
		if err != nil {
			w.t.Fatal(err)
		}
		if all = append(all, summary.Subject); i == 0 {
			newest = m.ID()
		}
	}
	return strings.Join(all, " "), newest
}

// parse parses a search.
func (w *fixture) parse(text string) *search.Query {
	w.t.Helper()
	q, err := search.Parse("?q", text, time.UTC)
	if err != nil {
		w.t.Fatal(err)
	}
	return &q
}
