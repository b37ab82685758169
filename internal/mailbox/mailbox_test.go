package mailbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// world is a service of mailboxes with everything it needs.
type world struct {
	*mailbox.Service
	db     *db.DB
	clock  *clock.Fake
	limits mailbox.Limits

	batches int // transactions of sweeps
}

// MailboxLimits gives every owner the same.
func (w *world) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return w.limits, nil
}

func (w *world) MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(id.Account, mailbox.Limits)) error {
	for _, account := range accounts {
		limits, _ := w.MailboxLimits(ctx, account)
		found(account, limits)
	}
	return nil
}

// Choose knows one domain.
func (w *world) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return "example.org", "", nil
}

// HoldersTx knows no private domain.
func (w *world) HoldersTx(context.Context, *db.Tx, []string, func(string, id.Account, id.Domain)) error {
	return nil
}

// EraseTx finds nothing to erase.
func (w *world) EraseTx(context.Context, *db.Tx, []id.Mailbox, int) (bool, error) { return true, nil }

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// run runs a test on each engine.
func run(t *testing.T, test func(t *testing.T, w *world)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{db: d, clock: clock.NewFake(noon()), limits: mailbox.Limits{
			TTLDefault: time.Hour, TTLMax: 24 * time.Hour, LifetimeMax: 7 * 24 * time.Hour, LiveMax: 2, DailyMail: 3, RawFor: 15 * time.Minute,
		}}
		policy := mailbox.Policy{Cooldown: 30 * 24 * time.Hour, MaxMessages: 5}
		w.Service = mailbox.New(mailbox.Parts{
			DB: d, Clock: w.clock, Keys: keys, Wake: wake.New(), Plans: w, Domains: w, Policy: policy, HoldSecret: []byte("hold"),
			ObserveBatch: func() func() { return func() { w.batches++ } },
		})
		test(t, w)
	})
}

func (w *world) create(t *testing.T, local string, o mailbox.Owner) (*mailbox.Mailbox, string) {
	t.Helper()
	m, err := w.Create(t.Context(), mailbox.CreateParams{LocalPart: local}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, w.Token(m, "")
}

// open opens the mailbox of a token, and returns the error that a client would get. Identify, which remembers mailboxes from one call of
// open to the next, must give the same.
func (w *world) open(t *testing.T, credential string) error {
	t.Helper()
	claims, err := w.Claims(credential)
	if err != nil {
		return err
	}
	opened, err := w.Open(t.Context(), claims)
	known, again := w.Identify(t.Context(), claims)
	if fmt.Sprint(err) != fmt.Sprint(again) {
		t.Errorf("Open: %v, Identify: %v", err, again)
	}
	if err == nil && again == nil && (opened.ID != known.ID || !opened.ExpiresAt.Equal(known.ExpiresAt)) {
		t.Errorf("Open: %s until %s, Identify: %s until %s", opened.ID, opened.ExpiresAt, known.ID, known.ExpiresAt)
	}
	return err
}

// refused fails the test unless an error is a problem of the code; "" wants none.
func refused(t *testing.T, what string, err error, code problem.Code) {
	t.Helper()
	if code == "" && err != nil || code != "" && !problem.Has(err, code) {
		t.Errorf("%s: %v, want %q", what, err, code)
	}
}

func TestOpenDistinguishesExpiredFromDestroyed(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.clock.Advance(700 * time.Millisecond)
		m, old := w.create(t, "ann", mailbox.Owner{})
		w.clock.Advance(time.Minute)
		longer, err := w.Extend(t.Context(), m.ID, 2*time.Hour)
		refused(t, "extend", err, "")
		renewed := w.Token(longer, "")
		for _, c := range []struct {
			at           time.Duration // after creation
			old, renewed problem.Code
		}{
			{time.Hour - 701*time.Millisecond, "", ""},
			{time.Hour - 700*time.Millisecond, problem.AuthInvalidToken, ""}, // a token says whole seconds
			{time.Hour + 2*time.Minute, problem.AuthInvalidToken, ""},
			{2*time.Hour + time.Minute - time.Microsecond, problem.AuthInvalidToken, ""}, // the newest is good to the end
			{2*time.Hour + time.Minute, problem.MailboxExpired, problem.MailboxExpired},
		} {
			w.clock.Advance(m.CreatedAt.Add(c.at).Sub(w.clock.Now()))
			err := w.open(t, old)
			refused(t, c.at.String()+" the old token", err, c.old)
			err = w.open(t, renewed)
			refused(t, c.at.String()+" the new token", err, c.renewed)
		}
		if n, err := w.Sweep(t.Context(), w); n != 1 || err != nil {
			t.Errorf("Sweep = %d, %v", n, err)
		}
		for _, credential := range []string{old, renewed} {
			err := w.open(t, credential)
			refused(t, "erased", err, problem.MailboxExpired)
		}
	})
}

func TestDestroyEndsEveryToken(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		m, first := w.create(t, "", mailbox.Owner{})
		longer, err := w.Extend(t.Context(), m.ID, 2*time.Hour)
		refused(t, "extend", err, "")
		second := w.Token(longer, "")
		refused(t, "destroy", w.Destroy(t.Context(), m.ID), "")
		refused(t, "destroy more", w.Destroy(t.Context(), m.ID), "")
		_, err = w.Extend(t.Context(), m.ID, 0)
		refused(t, "extend what is destroyed", err, problem.AuthInvalidToken)
		for _, erased := range []bool{false, true} {
			for _, credential := range []string{first, second} {
				err := w.open(t, credential)
				refused(t, "destroyed", err, problem.AuthInvalidToken)
			}
			if live, err := w.Live(t.Context(), m.ID); live || err != nil {
				t.Errorf("Live = %v, %v (erased: %v)", live, err, erased)
			}
			if _, err := w.Sweep(t.Context(), w); err != nil {
				t.Error(err)
			}
		}
	})
}

// The cool-down begins when the mailbox expires, not when the expired mailbox is found.
func TestTheCoolDownBeginsAtTheEnd(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.create(t, "ann", mailbox.Owner{})
		create := func() error {
			_, err := w.Create(t.Context(), mailbox.CreateParams{LocalPart: "ann"}, mailbox.Owner{})
			return err
		}
		w.clock.Advance(time.Hour + 29*24*time.Hour) // the expired mailbox was not swept yet
		refused(t, "a day early", create(), problem.MailboxLocalPartTaken)
		if _, err := w.Sweep(t.Context(), w); err != nil {
			t.Error(err)
		}
		w.clock.Advance(24*time.Hour - time.Microsecond)
		refused(t, "a moment early", create(), problem.MailboxLocalPartTaken)
		w.clock.Advance(time.Microsecond)
		refused(t, "on time", create(), "")
	})
}

func TestSweepErasesMailboxesAndReleasesAddresses(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		const many = 250 // more than two batches
		for range many {
			w.create(t, "", mailbox.Owner{})
		}
		w.clock.Advance(time.Hour)
		if n, err := w.Sweep(t.Context(), w); n != many || err != nil {
			t.Fatalf("Sweep = %d, %v", n, err)
		}
		count := func(table string) (n int) {
			if err := w.db.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if boxes, holds := count("mailbox"), count("address_hold"); boxes != 0 || holds != many {
			t.Errorf("%d mailboxes, %d held addresses", boxes, holds)
		}
		w.clock.Advance(30 * 24 * time.Hour)
		if _, err := w.Sweep(t.Context(), w); err != nil || count("address_hold") != 0 {
			t.Errorf("%v, %d held addresses are left", err, count("address_hold"))
		}
	})
}

// A sweep that cannot read says so.
func TestSweepReturnsErrors(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.create(t, "", mailbox.Owner{})
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Sweep(t.Context(), w); err == nil {
			t.Error("no error")
		}
	})
}
