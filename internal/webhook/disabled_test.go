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
func (w *fixture) setDisabled(account id.Account, disabled bool) {
	w.t.Helper()
	err := w.db.Update(w.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO account (id, email, password, epoch, locale, role, plan, disabled, created_at, totp_last, totp_spent)
			VALUES ($1, CAST($1 AS TEXT), '', 1, 'en', 'user', 'free', $2, 0, 0, 0) ON CONFLICT (id) DO UPDATE SET disabled = excluded.disabled`, account, disabled)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// waitHeld waits until the given number of deliveries is held.
func (w *fixture) waitHeld(want int) {
	w.t.Helper()
	deadline := time.Now().Add(5 * time.Minute) // which ends a test that hangs
	for w.count("SELECT count(*) FROM job WHERE state = 3") != want {
		if time.Now().After(deadline) {
			w.t.Fatalf("%d deliveries are held, want %d", w.count("SELECT count(*) FROM job WHERE state = 3"), want)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Neither queued nor new events of a disabled account are delivered. Those that have not expired are delivered when it is
// enabled again.
func TestDisabledAccountGetsNoDeliveries(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newFixture(t, d)
		w.setDisabled(ada, false)
		w.create(ada, event.MailboxExpiredName) // whose ping waits
		w.setDisabled(ada, true)
		stop := w.run()
		defer stop()
		w.waitHeld(1)
		if err := w.publish(expired(ada, "")); err != nil {
			t.Fatal(err)
		}
		w.create(bob, event.MailboxExpiredName)
		if err := w.publish(expired(bob, "")); err != nil {
			t.Fatal(err)
		}
		w.waitSent(2)
		w.waitHeld(2)
		if err := w.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.waitHeld(2)
		w.setDisabled(ada, false)
		if err := w.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Second)
		w.waitSent(4)
		w.waitDrained(t)
	})
}

// waitSent waits until the given number of deliveries has been sent, and reports an error if more were sent.
func (w *fixture) waitSent(want int) {
	w.t.Helper()
	sent := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.sent)
	}
	deadline := time.Now().Add(5 * time.Minute) // which ends a test that hangs
	for sent() < want {
		if time.Now().After(deadline) {
			w.t.Fatalf("%d deliveries were sent, want %d", sent(), want)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := sent(); n != want {
		w.t.Errorf("%d deliveries were sent, want %d", n, want)
	}
}
