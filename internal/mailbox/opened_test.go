package mailbox_test

import (
	"context"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wake"
)

// beside returns the service of another process with the same database.
func (w *world) beside() *mailbox.Service {
	return mailbox.New(mailbox.Parts{
		DB: w.db, Clock: w.clock, Wake: wake.New(), Plans: w, Domains: w, HoldSecret: []byte("hold"),
	})
}

// identify returns the problem of a token, as a call that only reads gets it.
func (w *world) identify(t *testing.T, credential string) error {
	t.Helper()
	claims, err := w.Claims(credential)
	if err == nil {
		_, err = w.Identify(t.Context(), claims)
	}
	return err
}

// Whatever another process ends is refused at once on PostgreSQL, and on SQLite, where only commands are other processes, when the command
// has returned.
func TestIdentifyRefusesWhatAnotherProcessHasEnded(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		m, credential := w.create(t, "ann", mailbox.Owner{})
		refused(t, "the first call", w.identify(t, credential), "")
		if err := w.beside().Destroy(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		if w.db.Engine() == db.SQLite {
			refused(t, "a call before the command has returned", w.identify(t, credential), "") // it was remembered
			w.clock.Advance(mailbox.OpenedFor)
		}
		refused(t, "a call after it", w.identify(t, credential), problem.AuthInvalidToken)
	})
}

func TestIdentifyRefusesAtOnceWhatThisProcessHasEnded(t *testing.T) {
	const owner = "acc_01890000000070008000000000000001"
	for name, c := range map[string]struct {
		end  func(t *testing.T, w *world, m *mailbox.Mailbox) error
		want problem.Code
	}{
		"destroyed": {func(t *testing.T, w *world, m *mailbox.Mailbox) error { return w.Destroy(t.Context(), m.ID) }, problem.AuthInvalidToken},
		"ended by staff": {
			func(t *testing.T, w *world, m *mailbox.Mailbox) error { return w.EndAt(t.Context(), m.Address) }, problem.AuthInvalidToken,
		},
		"extended, and then expired": {func(t *testing.T, w *world, m *mailbox.Mailbox) error {
			left := m.TTL(w.clock.Now())
			longer, err := w.Extend(t.Context(), m.ID, w.limits.TTLMax)
			if err == nil {
				refused(t, "the token of an extended mailbox", w.open(t, w.Token(m, "")), "") // which compares the expiry
				w.clock.Advance(left)
				refused(t, "its new token", w.open(t, w.Token(longer, "")), "")
			}
			return err
		}, problem.AuthInvalidToken},
		"expired": {func(t *testing.T, w *world, m *mailbox.Mailbox) error {
			w.clock.Advance(m.TTL(w.clock.Now()))
			return nil
		}, problem.MailboxExpired},
		"all tokens of its account voided": {func(t *testing.T, w *world, _ *mailbox.Mailbox) error {
			return w.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				tx.AfterCommit(w.ForgetTokens)
				return mailbox.EndTokensTx(ctx, tx, owner)
			})
		}, problem.AuthInvalidToken},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				m, credential := w.create(t, "ann", mailbox.Owner{Account: id.Account(owner)})
				w.clock.Advance(mailbox.OpenedFor / 2)
				for range 2 {
					refused(t, "a call before the end", w.identify(t, credential), "")
				}
				if err := c.end(t, w, m); err != nil {
					t.Fatal(err)
				}
				refused(t, "a call after the end", w.identify(t, credential), c.want)
			})
		})
	}
}
