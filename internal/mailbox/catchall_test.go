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

// estate is a private domain of an account, as long as it is held.
type estate struct{ held bool }

const (
	lady    = id.Account("acc_lady")
	manor   = "manor.example"
	manorID = id.Domain("dom_manor")
)

func (e *estate) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return manor, manorID, nil
}

func (e *estate) HoldersTx(_ context.Context, _ *db.Tx, names []string, found func(string, id.Account, id.Domain)) error {
	for _, name := range names {
		if e.held && name == manor {
			found(manor, lady, manorID)
		}
	}
	return nil
}

func newEstate(t testing.TB, d *db.DB) (*estate, *mailbox.Service) {
	t.Helper()
	return newEstateWith(t, d, clock.NewFake(noon()), roomy{max: 100})
}

func newEstateWith(t testing.TB, d *db.DB, c clock.Clock, plans roomy) (*estate, *mailbox.Service) {
	t.Helper()
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	e := &estate{held: true}
	return e, mailbox.New(mailbox.Parts{
		DB: d, Clock: c, Keys: keys, Wake: wake.New(), Plans: plans, Domains: e, Policy: mailbox.Policy{MaxMessages: 5}, HoldSecret: []byte("hold"),
	})
}

// roomy allows each account max mailboxes and plenty of mail.
type roomy struct{ max int }

func (r roomy) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return mailbox.Limits{TTLDefault: time.Hour, TTLMax: time.Hour, LiveMax: r.max, DailyMail: 100}, nil
}

func (r roomy) MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(id.Account, mailbox.Limits)) error {
	for _, account := range accounts {
		limits, _ := r.MailboxLimits(ctx, account)
		found(account, limits)
	}
	return nil
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
		e, boxes := newEstate(t, d)
		create := func() error {
			_, err := boxes.Create(t.Context(), mailbox.CreateParams{}, mailbox.Owner{Account: lady})
			return err
		}
		if err := create(); err != nil {
			t.Fatal(err)
		}
		if err := book(t, d, boxes, "ann@"+manor); err != nil {
			t.Fatal(err)
		}
		if err := boxes.EndDomain(t.Context(), manorID); err != nil {
			t.Fatal(err)
		}
		e.held = false
		if err := create(); !problem.Has(err, problem.MailboxDomainUnavailable) {
			t.Error(err)
		}
		if err := book(t, d, boxes, "ann@"+manor); !problem.Has(err, problem.MailMailboxUnknown) {
			t.Error(err)
		}
		if left, err := boxes.OfAccount(t.Context(), lady, "", 10); len(left) != 0 || err != nil {
			t.Errorf("%v %v", left, err)
		}
	})
}

// A mail that may not enter one mailbox opens none of the others.
func TestRejectedMailOpensNoMailbox(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		_, boxes := newEstate(t, d)
		if err := book(t, d, boxes, "ann@"+manor, "ann@elsewhere.example"); !problem.Has(err, problem.MailMailboxUnknown) {
			t.Error(err)
		}
		if all, err := boxes.OfAccount(t.Context(), lady, "", 10); len(all) != 0 || err != nil {
			t.Errorf("%v %v", all, err)
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
			_, boxes := newEstateWith(t, d, swept, roomy{max: 1})
			if _, err := boxes.Create(t.Context(), mailbox.CreateParams{}, mailbox.Owner{Account: lady}); err != nil {
				t.Fatal(err)
			}
			if _, err := boxes.CheckCatchAll(t.Context(), lady, "ann"); !problem.Has(err, problem.MailMailboxFull) {
				t.Fatal(err)
			}
			swept.Advance(time.Hour)
			swept.sweep = func() {
				if _, err := boxes.Sweep(t.Context(), contents{}); err != nil {
					t.Error(err)
				}
			}
			swept.in = in
			if _, err := boxes.CheckCatchAll(t.Context(), lady, "ann"); err != nil {
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
	_, boxes := newEstate(f, dbtest.Open(f, db.Options{}))
	f.Fuzz(func(t *testing.T, local string) {
		_, err := boxes.CheckCatchAll(t.Context(), lady, local)
		if err != nil && !problem.Has(err, problem.MailMailboxUnknown) {
			t.Fatal(err)
		}
		dots := strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, "..")
		if err == nil && (local == "" || len(local) > 64 || dots || strings.ContainsAny(local, " \t\r\n\x00\x7f@\"\\<>()[],;:")) {
			t.Errorf("%q is opened", local)
		}
	})
}
