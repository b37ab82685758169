package mailbox_test

import (
	"context"
	"strings"
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

// privateDomain is the private domain of an account while held is set.
type privateDomain struct{ held bool }

const (
	owner       = id.Account("acc_owner")
	privateName = "private.example"
	privateID   = id.Domain("dom_private")
)

func (e *privateDomain) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return privateName, privateID, nil
}

func (e *privateDomain) HoldersTx(_ context.Context, _ *db.Tx, names []string, found func(string, id.Account, id.Domain)) error {
	for _, name := range names {
		if e.held && name == privateName {
			found(privateName, owner, privateID)
		}
	}
	return nil
}

func newCatchAll(t testing.TB, d *db.DB) (*privateDomain, *mailbox.Service) {
	t.Helper()
	return newCatchAllWith(t, d, clock.NewFake(noon()), 100)
}

func newCatchAllWith(t testing.TB, d *db.DB, c clock.Clock, maxLive int) (*privateDomain, *mailbox.Service) {
	t.Helper()
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	limits := mailbox.Limits{TTLDefault: time.Hour, TTLMax: time.Hour, LiveMax: maxLive, DailyMail: 100}
	e := &privateDomain{held: true}
	return e, mailbox.New(mailbox.Parts{
		DB: d, Clock: c, Keys: keys, Wake: wake.New(), Plans: &plan{limits}, Domains: e, Policy: mailbox.Policy{MaxMessages: 5}, HoldSecret: []byte("hold"),
	})
}

// book takes a mail to addresses in, in a set of its own.
func book(t *testing.T, d *db.DB, boxes *mailbox.Service, addresses ...string) (refused error) {
	t.Helper()
	err := d.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		in, err := boxes.BatchTx(ctx, tx, addresses, nil)
		if err != nil {
			return err
		}
		_, refused = in.Reserve(addresses)
		return in.SaveTx(ctx, tx)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return refused
}

// A domain that is deleted while a mailbox is created on it, or while mail for it arrives, gets no mailbox: it would
// never be ended.
func TestNoMailboxIsCreatedOnADeletedDomain(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		e, boxes := newCatchAll(t, d)
		create := func() error {
			_, err := boxes.Create(t.Context(), mailbox.CreateParams{}, mailbox.Owner{Account: owner})
			return err
		}
		if err := create(); err != nil {
			t.Fatal(err)
		}
		if err := book(t, d, boxes, "ann@"+privateName); err != nil {
			t.Fatal(err)
		}
		if err := boxes.EndDomain(t.Context(), privateID); err != nil {
			t.Fatal(err)
		}
		e.held = false
		if err := create(); !problem.Has(err, problem.MailboxDomainUnavailable) {
			t.Errorf("Create in the domain that ended = %v, want the problem %v", err, problem.MailboxDomainUnavailable)
		}
		if err := book(t, d, boxes, "ann@"+privateName); !problem.Has(err, problem.MailMailboxUnknown) {
			t.Errorf("mail to the domain that ended = %v, want the problem %v", err, problem.MailMailboxUnknown)
		}
		if left, err := boxes.OfAccount(t.Context(), owner, "", 10); len(left) != 0 || err != nil {
			t.Errorf("OfAccount = %v, %v, want no mailbox", left, err)
		}
	})
}

// A mail that may not enter one mailbox opens none of the others.
func TestRejectedMailOpensNoMailbox(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		_, boxes := newCatchAll(t, d)
		if err := book(t, d, boxes, "ann@"+privateName, "ann@elsewhere.example"); !problem.Has(err, problem.MailMailboxUnknown) {
			t.Errorf("mail to ann and to a domain of nobody = %v, want the problem %v", err, problem.MailMailboxUnknown)
		}
		if all, err := boxes.OfAccount(t.Context(), owner, "", 10); len(all) != 0 || err != nil {
			t.Errorf("OfAccount = %v, %v, want no mailbox", all, err)
		}
	})
}

// sweptClock is a clock at whose reading a sweep takes place.
type sweptClock struct {
	*clock.Fake
	in    int // readings until the sweep
	sweep func()
}

func (c *sweptClock) Now() time.Time {
	if c.in--; c.in == 0 {
		c.sweep()
	}
	return c.Fake.Now()
}

// Mail for an account whose only mailbox has expired is accepted, whenever a sweep ends that mailbox.
func TestCatchAllChecksBesideSweep(t *testing.T) {
	for in := range 4 {
		dbtest.Run(t, func(t *testing.T, d *db.DB) {
			swept := &sweptClock{Fake: clock.NewFake(noon())}
			_, boxes := newCatchAllWith(t, d, swept, 1)
			if _, err := boxes.Create(t.Context(), mailbox.CreateParams{}, mailbox.Owner{Account: owner}); err != nil {
				t.Fatal(err)
			}
			if _, err := boxes.CheckCatchAll(t.Context(), owner, "ann"); !problem.Has(err, problem.MailMailboxFull) {
				t.Fatalf("CheckCatchAll(ann) = %v, want the problem %v", err, problem.MailMailboxFull)
			}
			swept.Advance(time.Hour)
			swept.sweep = func() {
				if _, err := boxes.Sweep(t.Context(), contents{}); err != nil {
					t.Error(err)
				}
			}
			swept.in = in
			if _, err := boxes.CheckCatchAll(t.Context(), owner, "ann"); err != nil {
				t.Errorf("with a sweep at reading %d of the clock: %v", in, err)
			}
		})
	}
}

// What a catch-all opens can be written as an address without quotes.
func FuzzOpens(f *testing.F) {
	for _, seed := range []string{"ann", "a.b", "o'hara=x", "", ".", "a..b", "a b", "a@b", "\"", "người", "\xff", "\u200b", strings.Repeat("a", 65)} {
		f.Add(seed)
	}
	_, boxes := newCatchAll(f, dbtest.Open(f, db.Options{}))
	f.Fuzz(func(t *testing.T, local string) {
		_, err := boxes.CheckCatchAll(t.Context(), owner, local)
		if err != nil && !problem.Has(err, problem.MailMailboxUnknown) {
			t.Fatal(err)
		}
		dots := strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, "..")
		if err == nil && (local == "" || len(local) > 64 || dots || strings.ContainsAny(local, " \t\r\n\x00\x7f@\"\\<>()[],;:")) {
			t.Errorf("mail to the local part %q opened a mailbox, want it refused", local)
		}
	})
}
