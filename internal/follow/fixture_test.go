package follow_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// fixture is a Service with the mailboxes of a database. Messages are kept in memory only.
type fixture struct {
	*follow.Service
	t         *testing.T
	db        *db.DB
	clock     *clock.Fake
	hub       *wake.Hub
	mailboxes *mailbox.Service

	mu         sync.Mutex
	stored     []message.Summary // oldest first
	beforeRead func()            // called by Newer before it reads; may be nil
}

// MailboxLimits returns the same limits for every owner.
func (w *fixture) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return mailbox.Limits{TTLDefault: time.Hour, TTLMax: 24 * time.Hour, LifetimeMax: 24 * time.Hour, LiveMax: 1000, DailyMail: 1000}, nil
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

// EraseTx returns that there is nothing to erase.
func (w *fixture) EraseTx(context.Context, *db.Tx, []id.Mailbox, int) (bool, error) { return true, nil }

// Newer returns the messages that deliver has stored, as message.Service does.
func (w *fixture) Newer(_ context.Context, boxes []id.Mailbox, after, last id.Message, most, _ int) (all []message.Summary, err error) {
	if w.beforeRead != nil {
		w.beforeRead()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.stored {
		if slices.Contains(boxes, m.MailboxID) && m.ID > after && m.ID <= last && len(all) < most {
			all = append(all, m)
		}
	}
	return all, nil
}

// Tags returns that no message has tags.
func (w *fixture) Tags(context.Context, []message.Ref) (map[id.Message][]string, error) {
	return nil, nil
}

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// run runs a test on each engine.
func run(t *testing.T, test func(t *testing.T, w *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) { test(t, newFixture(t, d)) })
}

func newFixture(t *testing.T, d *db.DB) *fixture {
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, db: d, clock: clock.NewFake(noon()), hub: wake.New()}
	w.mailboxes = mailbox.New(mailbox.Parts{
		DB: d, Clock: w.clock, Keys: keys, Wake: w.hub, Plans: w, Domains: w, HoldSecret: []byte("hold"),
		Policy: mailbox.Policy{MaxMessages: 1000}, ObserveBatch: func() func() { return func() {} },
	})
	w.Service = follow.New(follow.Parts{Clock: w.clock, Wake: w.hub, Mailboxes: w.mailboxes, Messages: w})
	return w
}

// create creates a mailbox of an account, or of a guest for "".
func (w *fixture) create(account id.Account) *mailbox.Mailbox {
	w.t.Helper()
	m, err := w.mailboxes.Create(w.t.Context(), mailbox.CreateParams{}, mailbox.Owner{Account: account})
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// deliver stores one message in each of the mailboxes, in one transaction, and returns them. It wakes the followers.
func (w *fixture) deliver(boxes ...*mailbox.Mailbox) (all []id.Message) {
	w.t.Helper()
	var reserved []mailbox.Reservation
	err := w.db.UpdateLocked(w.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		reserved = nil
		var addresses []string
		for _, m := range boxes {
			addresses = append(addresses, m.Address)
		}
		b, err := w.mailboxes.BatchTx(ctx, tx, addresses, nil)
		if err != nil {
			return err
		}
		for _, a := range addresses {
			r, err := b.Reserve([]string{a})
			if err != nil {
				return err
			}
			reserved = append(reserved, r...)
		}
		return b.SaveTx(ctx, tx)
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range reserved {
		all = append(all, r.Message)
		w.stored = append(w.stored, message.Summary{ID: r.Message, MailboxID: r.Box})
		w.hub.Wake(mailbox.WakeKey(r.Box), mailbox.AccountWakeKey(r.Account))
	}
	slices.SortFunc(w.stored, func(a, b message.Summary) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// change runs fn in a transaction.
func (w *fixture) change(fn func(ctx context.Context, tx *db.Tx) error) {
	w.t.Helper()
	if err := w.db.Update(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) markSeen(box *mailbox.Mailbox, m id.Message, seen bool) {
	w.t.Helper()
	w.change(func(ctx context.Context, tx *db.Tx) error { return w.mailboxes.SeenTx(ctx, tx, box.ID, seen, m) })
}

func (w *fixture) markDeleted(box *mailbox.Mailbox, m id.Message) {
	w.t.Helper()
	w.change(func(ctx context.Context, tx *db.Tx) error { return w.mailboxes.DeletedTx(ctx, tx, box.ID, true, m) })
}

func (w *fixture) extend(box *mailbox.Mailbox, ttl time.Duration) {
	w.t.Helper()
	if _, err := w.mailboxes.Extend(w.t.Context(), box.ID, ttl); err != nil {
		w.t.Fatal(err)
	}
}

// ofMailbox and ofAccount open a follower that begins after a message, or now if after is "".
func (w *fixture) ofMailbox(m *mailbox.Mailbox, after id.Message, credential message.CredentialCheck) *follow.Follower {
	w.t.Helper()
	f, err := w.OfMailbox(w.t.Context(), m, after, credential)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func (w *fixture) ofAccount(account id.Account, after id.Message, credential message.CredentialCheck) *follow.Follower {
	w.t.Helper()
	f, err := w.OfAccount(w.t.Context(), account, after, credential)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// now returns the events that a follower can report without waiting.
func (w *fixture) now(f *follow.Follower) []follow.Event {
	w.t.Helper()
	events, err := f.Next(w.t.Context(), time.Nanosecond)
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

// wantMessages fails the test unless the events report exactly the messages, in order.
func (w *fixture) wantMessages(events []follow.Event, want ...id.Message) {
	w.t.Helper()
	var got []id.Message
	for _, e := range events {
		if e.Kind != follow.Message || e.Summary == nil || e.Summary.ID != e.Message || e.Summary.MailboxID != e.Mailbox {
			w.t.Errorf("the event is %+v, want a message with its summary", e)
		}
		got = append(got, e.Message)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("messages %v, want %v", got, want)
	}
}

// wantEnd fails the test unless the only event is an end with a reason.
func (w *fixture) wantEnd(events []follow.Event, reason follow.Reason) {
	w.t.Helper()
	if len(events) != 1 || events[0].Kind != follow.End || events[0].Reason != reason {
		w.t.Errorf("%+v, want the end: %s", events, reason)
	}
}
