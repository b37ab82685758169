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

// fixture is a service of mailboxes with everything it needs.
type fixture struct {
	*mailbox.Service
	plan
	publicDomain
	db    *db.DB
	clock *clock.Fake

	batches int // transactions of sweeps
}

// EraseTx finds nothing to erase.
func (f *fixture) EraseTx(context.Context, *db.Tx, []id.Mailbox, int) (bool, error) { return true, nil }

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// run runs a test on each engine.
func run(t *testing.T, test func(t *testing.T, f *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{db: d, clock: clock.NewFake(noon()), plan: plan{mailbox.Limits{
			TTLDefault: time.Hour, TTLMax: 24 * time.Hour, LifetimeMax: 7 * 24 * time.Hour, LiveMax: 2, DailyMail: 3, RawFor: 15 * time.Minute,
		}}}
		policy := mailbox.Policy{Cooldown: 30 * 24 * time.Hour, MaxMessages: 5}
		f.Service = mailbox.New(mailbox.Parts{
			DB: d, Clock: f.clock, Keys: keys, Wake: wake.New(), Plans: f, Domains: f, Policy: policy, HoldSecret: []byte("hold"),
			ObserveBatch: func() func() { return func() { f.batches++ } },
		})
		test(t, f)
	})
}

func (f *fixture) create(t *testing.T, local string, o mailbox.Owner) (*mailbox.Mailbox, string) {
	t.Helper()
	m, err := f.Create(t.Context(), mailbox.CreateParams{LocalPart: local}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, f.Token(m, "")
}

// open opens the mailbox of a token, and returns the error that a client would get. Identify, which remembers mailboxes from one call of
// open to the next, must give the same.
func (f *fixture) open(t *testing.T, credential string) error {
	t.Helper()
	claims, err := f.Claims(credential)
	if err != nil {
		return err
	}
	opened, err := f.Open(t.Context(), claims)
	known, again := f.Identify(t.Context(), claims)
	if fmt.Sprint(err) != fmt.Sprint(again) {
		t.Errorf("Open: %v, Identify: %v, want the same error of both", err, again)
	}
	if err == nil && again == nil && (opened.ID != known.ID || !opened.ExpiresAt.Equal(known.ExpiresAt)) {
		t.Errorf("Open: %s until %s, Identify: %s until %s, want the same mailbox and expiry", opened.ID, opened.ExpiresAt, known.ID, known.ExpiresAt)
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
	run(t, func(t *testing.T, f *fixture) {
		f.clock.Advance(700 * time.Millisecond)
		m, old := f.create(t, "ann", mailbox.Owner{})
		f.clock.Advance(time.Minute)
		longer, err := f.Extend(t.Context(), m.ID, 2*time.Hour)
		refused(t, "extend", err, "")
		renewed := f.Token(longer, "")
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
			f.clock.Advance(m.CreatedAt.Add(c.at).Sub(f.clock.Now()))
			err := f.open(t, old)
			refused(t, c.at.String()+" the old token", err, c.old)
			err = f.open(t, renewed)
			refused(t, c.at.String()+" the new token", err, c.renewed)
		}
		if n, err := f.Sweep(t.Context(), f); n != 1 || err != nil {
			t.Errorf("Sweep = %d, %v, want 1", n, err)
		}
		for _, credential := range []string{old, renewed} {
			err := f.open(t, credential)
			refused(t, "erased", err, problem.MailboxExpired)
		}
	})
}

func TestDestroyEndsEveryToken(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		m, first := f.create(t, "", mailbox.Owner{})
		longer, err := f.Extend(t.Context(), m.ID, 2*time.Hour)
		refused(t, "extend", err, "")
		second := f.Token(longer, "")
		refused(t, "destroy", f.Destroy(t.Context(), m.ID), "")
		refused(t, "destroy more", f.Destroy(t.Context(), m.ID), "")
		_, err = f.Extend(t.Context(), m.ID, 0)
		refused(t, "extend what is destroyed", err, problem.AuthInvalidToken)
		for _, erased := range []bool{false, true} {
			for _, credential := range []string{first, second} {
				err := f.open(t, credential)
				refused(t, "destroyed", err, problem.AuthInvalidToken)
			}
			if live, err := f.Live(t.Context(), m.ID); live || err != nil {
				t.Errorf("Live(%s) = %t, %v after it was destroyed (erased: %t), want false and no error", m.ID, live, err, erased)
			}
			if _, err := f.Sweep(t.Context(), f); err != nil {
				t.Error(err)
			}
		}
	})
}

// The cool-down begins when the mailbox expires, not when the expired mailbox is found.
func TestTheCoolDownBeginsAtTheEnd(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.create(t, "ann", mailbox.Owner{})
		create := func() error {
			_, err := f.Create(t.Context(), mailbox.CreateParams{LocalPart: "ann"}, mailbox.Owner{})
			return err
		}
		f.clock.Advance(time.Hour + 29*24*time.Hour) // the expired mailbox was not swept yet
		refused(t, "a day early", create(), problem.MailboxLocalPartTaken)
		if _, err := f.Sweep(t.Context(), f); err != nil {
			t.Error(err)
		}
		f.clock.Advance(24*time.Hour - time.Microsecond)
		refused(t, "a moment early", create(), problem.MailboxLocalPartTaken)
		f.clock.Advance(time.Microsecond)
		refused(t, "on time", create(), "")
	})
}

func TestSweepErasesMailboxesAndReleasesAddresses(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		const many = 250 // more than two batches
		for range many {
			f.create(t, "", mailbox.Owner{})
		}
		f.clock.Advance(time.Hour)
		if n, err := f.Sweep(t.Context(), f); n != many || err != nil {
			t.Fatalf("Sweep = %d, %v, want %v", n, err, many)
		}
		count := func(table string) (n int) {
			if err := f.db.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if boxes, holds := count("mailbox"), count("address_hold"); boxes != 0 || holds != many {
			t.Errorf("%d mailboxes, %d held addresses, want 0 and %v", boxes, holds, many)
		}
		f.clock.Advance(30 * 24 * time.Hour)
		if _, err := f.Sweep(t.Context(), f); err != nil || count("address_hold") != 0 {
			t.Errorf("Sweep = %v, and %d held addresses are left, want no error and 0", err, count("address_hold"))
		}
	})
}

// A sweep that cannot read says so.
func TestSweepReturnsErrors(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.create(t, "", mailbox.Owner{})
		if err := f.db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Sweep(t.Context(), f); err == nil {
			t.Error("Sweep of a closed database returned no error, want one")
		}
	})
}
