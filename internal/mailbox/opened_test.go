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
func (f *fixture) beside() *mailbox.Service {
	return mailbox.New(mailbox.Parts{
		DB: f.db, Clock: f.clock, Wake: wake.New(), Plans: f, Domains: f, HoldSecret: []byte("hold"),
	})
}

// identify returns the problem of a token, as a call that only reads gets it.
func (f *fixture) identify(t *testing.T, credential string) error {
	t.Helper()
	claims, err := f.Claims(credential)
	if err == nil {
		_, err = f.Identify(t.Context(), claims)
	}
	return err
}

// Whatever another process ends is refused at once on PostgreSQL, and on SQLite, where only commands are other processes, when the command
// has returned.
func TestIdentifyRefusesWhatAnotherProcessHasEnded(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		m, credential := f.create(t, "ann", mailbox.Owner{})
		refused(t, "the first call", f.identify(t, credential), "")
		if err := f.beside().Destroy(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		if f.db.Engine() == db.SQLite {
			refused(t, "a call before the command has returned", f.identify(t, credential), "") // it was remembered
			f.clock.Advance(mailbox.OpenedFor)
		}
		refused(t, "a call after it", f.identify(t, credential), problem.AuthInvalidToken)
	})
}

func TestIdentifyRefusesAtOnceWhatThisProcessHasEnded(t *testing.T) {
	const owner = "acc_01890000000070008000000000000001"
	for name, c := range map[string]struct {
		end  func(t *testing.T, f *fixture, m *mailbox.Mailbox) error
		want problem.Code
	}{
		"destroyed": {func(t *testing.T, f *fixture, m *mailbox.Mailbox) error { return f.Destroy(t.Context(), m.ID) }, problem.AuthInvalidToken},
		"ended by staff": {
			func(t *testing.T, f *fixture, m *mailbox.Mailbox) error { return f.EndAt(t.Context(), m.Address) }, problem.AuthInvalidToken,
		},
		"extended, and then expired": {func(t *testing.T, f *fixture, m *mailbox.Mailbox) error {
			left := m.TTL(f.clock.Now())
			longer, err := f.Extend(t.Context(), m.ID, f.limits.TTLMax)
			if err == nil {
				refused(t, "the token of an extended mailbox", f.open(t, f.Token(m, "")), "") // which compares the expiry
				f.clock.Advance(left)
				refused(t, "its new token", f.open(t, f.Token(longer, "")), "")
			}
			return err
		}, problem.AuthInvalidToken},
		"expired": {func(t *testing.T, f *fixture, m *mailbox.Mailbox) error {
			f.clock.Advance(m.TTL(f.clock.Now()))
			return nil
		}, problem.MailboxExpired},
		"all tokens of its account voided": {func(t *testing.T, f *fixture, _ *mailbox.Mailbox) error {
			return f.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				tx.AfterCommit(f.ForgetTokens)
				return mailbox.EndTokensTx(ctx, tx, owner)
			})
		}, problem.AuthInvalidToken},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, f *fixture) {
				m, credential := f.create(t, "ann", mailbox.Owner{Account: id.Account(owner)})
				f.clock.Advance(mailbox.OpenedFor / 2)
				for range 2 {
					refused(t, "a call before the end", f.identify(t, credential), "")
				}
				if err := c.end(t, f, m); err != nil {
					t.Fatal(err)
				}
				refused(t, "a call after the end", f.identify(t, credential), c.want)
			})
		})
	}
}
