package webhook_test

import (
	"context"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
)

// setDisabled disables or enables an account, which it creates if needed.
func (f *fixture) setDisabled(account id.Account, disabled bool) {
	f.t.Helper()
	err := f.db.Update(f.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO account (id, email, password, epoch, locale, role, plan, disabled, created_at, totp_last, totp_spent)
			VALUES ($1, CAST($1 AS TEXT), '', 1, 'en', 'user', 'free', $2, 0, 0, 0) ON CONFLICT (id) DO UPDATE SET disabled = excluded.disabled`, account, disabled)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// waitHeld waits until the given number of deliveries is held.
func (f *fixture) waitHeld(want int) {
	f.t.Helper()
	deadline := time.Now().Add(5 * time.Minute) // which ends a test that hangs
	for f.count("SELECT count(*) FROM job WHERE state = 3") != want {
		if time.Now().After(deadline) {
			f.t.Fatalf("%d deliveries are held, want %d", f.count("SELECT count(*) FROM job WHERE state = 3"), want)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Neither queued nor new events of a disabled account are delivered. Those that have not expired are delivered when it is
// enabled again.
func TestDisabledAccountGetsNoDeliveries(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d)
		f.setDisabled(ada, false)
		f.create(ada, event.MailboxExpiredName) // whose ping waits
		f.setDisabled(ada, true)
		stop := f.run()
		defer stop()
		f.waitHeld(1)
		if err := f.publish(expired(ada, "")); err != nil {
			t.Fatal(err)
		}
		f.create(bob, event.MailboxExpiredName)
		if err := f.publish(expired(bob, "")); err != nil {
			t.Fatal(err)
		}
		f.waitSent(2)
		f.waitHeld(2)
		if err := f.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.waitHeld(2)
		f.setDisabled(ada, false)
		if err := f.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.clock.Advance(time.Second)
		f.waitSent(4)
		f.waitDrained(t)
	})
}

// waitSent waits until the given number of deliveries has been sent, and reports an error if more were sent.
func (f *fixture) waitSent(want int) {
	f.t.Helper()
	sent := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.sent)
	}
	deadline := time.Now().Add(5 * time.Minute) // which ends a test that hangs
	for sent() < want {
		if time.Now().After(deadline) {
			f.t.Fatalf("%d deliveries were sent, want %d", sent(), want)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := sent(); n != want {
		f.t.Errorf("%d deliveries were sent, want %d", n, want)
	}
}
