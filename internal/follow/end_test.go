package follow_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

func TestFollowersOfMailboxesEndWithThem(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		for _, c := range []struct {
			what   string
			end    func(m *mailbox.Mailbox) error
			reason follow.Reason
		}{
			{"destroyed", func(m *mailbox.Mailbox) error { return w.mailboxes.Destroy(t.Context(), m.ID) }, follow.Destroyed},
			{"destroyed and erased", func(m *mailbox.Mailbox) error {
				_, err := w.mailboxes.Sweep(t.Context(), w)
				return errors.Join(w.mailboxes.Destroy(t.Context(), m.ID), err)
			}, follow.Destroyed},
			{"expired", func(*mailbox.Mailbox) error {
				w.clock.Advance(time.Hour)
				return nil
			}, follow.Expired},
			{"expired and erased", func(*mailbox.Mailbox) error {
				w.clock.Advance(time.Hour)
				_, err := w.mailboxes.Sweep(t.Context(), w)
				return err
			}, follow.Expired},
		} {
			t.Run(c.what, func(t *testing.T) {
				m := w.create("")
				f := w.ofMailbox(m, "", message.CredentialCheck{})
				if err := c.end(m); err != nil {
					t.Fatal(err)
				}
				w.wantEnd(w.now(f), c.reason)
			})
		}
	})
}

// Messages that were received before the mailbox expired are reported before its end, as long as they are not erased.
func TestMessagesAreReportedBeforeTheEnd(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		m := w.create("")
		f := w.ofMailbox(m, "", message.CredentialCheck{})
		last := w.deliver(m)[0]
		w.clock.Advance(time.Hour)
		w.wantMessages(w.now(f), last)
		w.wantEnd(w.now(f), follow.Expired)
	})
}

func TestFollowersEndWhenTheCredentialFails(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		account := id.New[id.Account](noon())
		m := w.create(account)
		var fault error
		check := message.CredentialCheck{Check: func(context.Context) error { return fault }}
		f, ofAccount := w.ofMailbox(m, "", check), w.ofAccount(account, "", check)
		first := w.deliver(m)[0]
		w.wantMessages(w.now(f), first)
		w.deliver(m) // must not be reported once the check has failed
		for _, c := range []struct {
			code   problem.Code
			reason follow.Reason
		}{{problem.AuthInvalidToken, follow.Destroyed}, {problem.AuthAddressNotAllowed, follow.Destroyed}, {problem.MailboxExpired, follow.Expired}} {
			fault = problem.New(c.code)
			w.wantEnd(w.now(f), c.reason)
			w.wantEnd(w.now(ofAccount), c.reason)
		}
		fault = errors.New("the database does not answer")
		if events, err := f.Next(t.Context(), time.Nanosecond); !errors.Is(err, fault) || len(events) > 0 {
			t.Errorf("Next = %+v, %v, want no event and the error %v, which is not the end", events, err, fault)
		}
	})
}

// At shutdown, committed messages are reported before the end.
func TestFollowersEndAtShutdown(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		account := id.New[id.Account](noon())
		m := w.create(account)
		f, ofAccount := w.ofMailbox(m, "", message.CredentialCheck{}), w.ofAccount(account, "", message.CredentialCheck{})
		first := w.deliver(m)
		w.hub.Close()
		for _, f := range []*follow.Follower{f, ofAccount} {
			for _, step := range []func(events []follow.Event){
				func(events []follow.Event) { w.wantMessages(events, first...) },
				func(events []follow.Event) { w.wantEnd(events, follow.Shutdown) },
			} {
				events, err := f.Next(t.Context(), time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				step(events)
			}
		}
	})
}

// alone runs a test inside a synctest bubble, where waiting takes no time, with a mailbox and its account. The test may read the database but
// not write to it, since the goroutines of the database do not belong to the bubble.
func alone(t *testing.T, test func(w *fixture, m *mailbox.Mailbox, account id.Account)) {
	d := dbtest.Open(t, db.Options{})
	account := id.New[id.Account](noon())
	m := newFixture(t, d).create(account)
	synctest.Test(t, func(t *testing.T) { test(newFixture(t, d), m, account) })
}

// A command that disables an account runs in another process, and does not wake followers.
func TestCredentialIsCheckedWithoutAWakeUp(t *testing.T) {
	alone(t, func(w *fixture, m *mailbox.Mailbox, account id.Account) {
		began := time.Now()
		revoked := began.Add(7 * time.Second)
		check := message.CredentialCheck{Check: func(context.Context) error {
			if time.Now().Before(revoked) {
				return nil
			}
			return problem.New(problem.AuthInvalidToken)
		}}
		for _, f := range []*follow.Follower{w.ofMailbox(m, "", check), w.ofAccount(account, "", check)} {
			events, err := f.Next(w.t.Context(), 15*time.Second)
			if err != nil {
				t.Error(err)
			}
			w.wantEnd(events, follow.Destroyed)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the end was reported after %s, want 10s: a check every 5s", took)
		}
	})
}

func TestNextReturnsWhenWoken(t *testing.T) {
	const key = "a developer key"
	alone(t, func(w *fixture, m *mailbox.Mailbox, _ id.Account) {
		var revoked atomic.Bool
		began := time.Now()
		f := w.ofMailbox(m, "", message.CredentialCheck{WakeKey: key, Check: func(context.Context) error {
			if revoked.Load() {
				return problem.New(problem.AuthInvalidToken)
			}
			return nil
		}})
		next := func(wake func(), at time.Duration) (events []follow.Event) {
			t.Helper()
			time.AfterFunc(time.Second, wake)
			events, err := f.Next(w.t.Context(), 4*time.Second)
			if took := time.Since(began); err != nil || took != at {
				t.Errorf("%v after %s, want %s", err, took, at)
			}
			return events
		}
		if events := next(func() { w.hub.Wake(key) }, 4*time.Second); len(events) != 0 {
			t.Errorf("Next after a wake-up without a change = %+v, want no event", events)
		}
		events := next(func() {
			revoked.Store(true)
			w.hub.Wake(key)
		}, 5*time.Second)
		w.wantEnd(events, follow.Destroyed)
	})
}

func TestNextReturnsWhenTheMailboxExpires(t *testing.T) {
	alone(t, func(w *fixture, m *mailbox.Mailbox, _ id.Account) {
		began := time.Now()
		f := w.ofMailbox(m, "", message.CredentialCheck{})
		w.clock.Advance(time.Hour - 3*time.Second)
		time.AfterFunc(3*time.Second-time.Millisecond, func() { w.clock.Advance(3 * time.Second) })
		var events []follow.Event
		for len(events) == 0 && time.Since(began) < time.Minute {
			var err error
			if events, err = f.Next(w.t.Context(), 15*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		w.wantEnd(events, follow.Expired)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("the end was reported after %s, want 3s", took)
		}
	})
}

func TestNextReturnsWithItsContext(t *testing.T) {
	alone(t, func(w *fixture, m *mailbox.Mailbox, _ id.Account) {
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		f := w.ofMailbox(m, "", message.CredentialCheck{})
		if events, err := f.Next(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) || len(events) > 0 {
			t.Errorf("Next = %+v, %v, want no event and the error %v", events, err, context.DeadlineExceeded)
		}
		if n := w.hub.Sleepers(); n != 0 {
			t.Errorf("%d sleepers are left, want 0", n)
		}
	})
}
