package diagnosis_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/diagnosis"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// fixture has an account with many mailboxes and much mail.
type fixture struct {
	*diagnosis.Service
	clock   *clock.Fake
	account id.Account
	boxes   []*mailbox.Mailbox
}

func (*fixture) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return mailbox.Limits{TTLDefault: time.Hour, TTLMax: time.Hour, LifetimeMax: time.Hour, LiveMax: 100_000, DailyMail: 1_000_000}, nil
}

func (f *fixture) MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(id.Account, mailbox.Limits)) error {
	for _, a := range accounts {
		l, _ := f.MailboxLimits(ctx, a)
		found(a, l)
	}
	return nil
}

func (*fixture) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return "example.org", "", nil
}

func (*fixture) HoldersTx(context.Context, *db.Tx, []string, func(string, id.Account, id.Domain)) error {
	return nil
}

// newFixture stores each messages in each of 300 mailboxes, and refuses as many.
func newFixture(b *testing.B, each int) *fixture {
	f := &fixture{clock: clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))}
	f.account = id.New[id.Account](f.clock.Now())
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		b.Fatal(err)
	}
	d, hub := dbtest.Open(b, db.Options{}), wake.New()
	mailboxes := mailbox.New(mailbox.Parts{
		DB: d, Clock: f.clock, Keys: keys, Wake: hub, Plans: f, Domains: f, HoldSecret: []byte("hold"), Policy: mailbox.Policy{MaxMessages: 100_000},
	})
	messages := message.New(message.Parts{DB: d, Clock: f.clock, Wake: hub, Mailboxes: mailboxes, Policy: message.Policy{PreviewLength: 200}})
	deliveries := deliverylog.New(deliverylog.Parts{DB: d, Clock: f.clock, Logger: slog.New(slog.DiscardHandler), Secret: []byte("secret")})
	f.Service = diagnosis.New(f.clock, mailboxes, messages, deliveries)
	for range 300 {
		m, err := mailboxes.Create(b.Context(), mailbox.CreateParams{}, mailbox.Owner{Account: f.account})
		if err != nil {
			b.Fatal(err)
		}
		f.boxes = append(f.boxes, m)
	}
	for n := range each {
		err := d.UpdateLocked(b.Context(), func(ctx context.Context, tx *db.Tx) error { return deliver(ctx, tx, mailboxes, messages, f.boxes, n) }, nil)
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, m := range f.boxes {
		for range each {
			deliveries.Record(m.Address, m.Address, deliverylog.Entry{At: f.clock.Now(), RemoteIP: netip.IPv6Loopback(), Reply: 452, Reason: "The mailbox is full", HasMailbox: true})
		}
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		deliveries.Run(ctx) // writes what is queued
	}
	f.clock.Advance(time.Second)
	return f
}

// deliver stores a long message without a code in each mailbox.
func deliver(ctx context.Context, tx *db.Tx, mailboxes *mailbox.Service, messages *message.Service, boxes []*mailbox.Mailbox, n int) error {
	var addresses []string
	for _, m := range boxes {
		addresses = append(addresses, m.Address)
	}
	batch, err := mailboxes.BatchTx(ctx, tx, addresses, nil)
	if err != nil {
		return err
	}
	var copies []message.Copy
	for _, a := range addresses {
		text := strings.Repeat(fmt.Sprintf("Order %d of 12 March 2026 ships soon, call 555 0199.\n", n), 300)
		draft, _ := messages.NewDraft(nil, message.Content{Subject: fmt.Sprint("Order ", n), Text: text, Size: int64(len(text))}, 1)
		reserved, err := batch.Reserve([]string{a})
		if err != nil {
			return err
		}
		for _, r := range reserved {
			copies = append(copies, message.Copy{Draft: draft, Delivery: message.Delivery{Box: r.Box, Message: r.Message, ReceivedAt: r.At, To: []string{a}, Raw: "raw", RawUntil: r.At.Add(time.Hour)}})
		}
	}
	if err := messages.InsertTx(ctx, tx, copies); err != nil {
		return err
	}
	return batch.SaveTx(ctx, tx)
}

// BenchmarkDiagnose measures a diagnosis in an account with 300 mailboxes that each got 100 messages, and as many refusals, while a wait
// lasted. It should take 5 ms at most.
func BenchmarkDiagnose(b *testing.B) {
	f := newFixture(b, 100)
	code, subject := message.Match{Code: true}, message.Match{Subject: "Sign in", To: f.boxes[0].Address}
	for name, w := range map[string]diagnosis.Wait{
		"mailbox": {Box: f.boxes[0], Query: allmail.Query{Query: message.Query{Match: code}}},
		"key":     {Box: f.boxes[0], Account: f.account, Query: allmail.Query{Query: message.Query{Match: code}}},
		"account": {Account: f.account, Query: allmail.Query{Query: message.Query{Match: code}}},
		"to":      {Account: f.account, Query: allmail.Query{Query: message.Query{Match: subject}}},
		"source":  {Account: f.account, Query: allmail.Query{Source: mailbox.CatchAll}},
	} {
		w.Began = f.clock.Now()
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if d, err := f.Diagnose(b.Context(), w); err != nil || len(d.Causes) == 0 {
					b.Fatalf("Diagnose: %+v, %v, want a cause", d, err)
				}
			}
		})
	}
}
