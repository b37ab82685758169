package guest_test

import (
	"context"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// left records the sessions whose mailboxes were released.
type left map[string]int

func (l left) OfSession(context.Context, string, int) ([]*mailbox.Mailbox, error) { return nil, nil }

func (l left) LeaveSessionTx(_ context.Context, _ *db.Tx, session string) error {
	l[session]++
	return nil
}

const idle = 30 * time.Minute

func run(t *testing.T, test func(t *testing.T, s *guest.Service, c *clock.Fake, l left)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c, l := clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)), left{}
		test(t, guest.New(d, c, l, idle), c, l)
	})
}

func TestSessionIsExtendedAndExpires(t *testing.T) {
	run(t, func(t *testing.T, s *guest.Service, c *clock.Fake, l left) {
		key, started, err := s.Start(t.Context())
		if err != nil || !started.ExpiresAt.Equal(c.Now().Add(idle)) {
			t.Fatalf("Start = %+v, %v, want it to expire at %v", started, err, c.Now().Add(idle))
		}
		for range 3 {
			c.Advance(idle - time.Microsecond)
			used, err := s.Authorize(t.Context(), key)
			if err != nil || used.ID != started.ID || !used.ExpiresAt.Equal(c.Now().Add(idle)) {
				t.Fatalf("s.Authorize(key) = %+v, %v, want no error, ID %v and ExpiresAt %v", used, err, started.ID, c.Now().Add(idle))
			}
		}
		c.Advance(idle)
		if _, err := s.Authorize(t.Context(), key); !problem.Has(err, problem.AuthInvalidToken) {
			t.Errorf("a lapsed key: %v, want the problem %v", err, problem.AuthInvalidToken)
		}
		if err := s.Sweep(t.Context()); err != nil || l[started.ID] != 1 {
			t.Errorf("Sweep = %v, and the mailboxes of the lapsed session were let go of %d times, want no error and 1", err, l[started.ID])
		}
	})
}

func TestEndedSessionIsInvalid(t *testing.T) {
	run(t, func(t *testing.T, s *guest.Service, _ *clock.Fake, l left) {
		key, session, err := s.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.End(t.Context(), session); err != nil || l[session.ID] != 1 {
			t.Errorf("End = %v, and the mailboxes of the session were let go of %d times, want no error and 1", err, l[session.ID])
		}
		if _, err := s.Authorize(t.Context(), key); !problem.Has(err, problem.AuthInvalidToken) {
			t.Errorf("an ended key: %v, want the problem %v", err, problem.AuthInvalidToken)
		}
	})
}

func TestOnlyGuestKeysAreAuthorized(t *testing.T) {
	run(t, func(t *testing.T, s *guest.Service, _ *clock.Fake, _ left) {
		user, _ := token.MintSecret(token.User)
		unknown, _ := token.MintSecret(token.Guest)
		for _, key := range []string{"", "xg_", user, unknown, unknown + "x"} {
			if _, err := s.Authorize(t.Context(), key); !problem.Has(err, problem.AuthInvalidToken) {
				t.Errorf("%q: s.Authorize(key) = %v, want the problem %v", key, err, problem.AuthInvalidToken)
			}
		}
	})
}

// A sweep deletes every expired session, however many there are, and no other.
func TestSweepDeletesExpiredSessions(t *testing.T) {
	run(t, func(t *testing.T, s *guest.Service, c *clock.Fake, l left) {
		for range 250 { // more than two batches
			if _, _, err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		c.Advance(idle)
		key, _, err := s.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Sweep(t.Context()); err != nil || len(l) != 250 {
			t.Errorf("%v, %d sessions ended, want 250", err, len(l))
		}
		if _, err := s.Authorize(t.Context(), key); err != nil {
			t.Errorf("the open one: %v", err)
		}
	})
}
