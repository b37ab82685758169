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
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	e, noon := &estate{held: true}, time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	return e, mailbox.New(mailbox.Parts{
		DB: d, Clock: clock.NewFake(noon), Keys: keys, Wake: wake.New(), Plans: roomy{}, Domains: e, Policy: mailbox.Policy{MaxMessages: 5}, HoldSecret: []byte("hold"),
	})
}

// roomy lets everybody have a lot.
type roomy struct{}

func (roomy) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return mailbox.Limits{TTLDefault: time.Hour, TTLMax: time.Hour, LiveMax: 100, DailyMail: 100}, nil
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
			_, err := boxes.Create(t.Context(), mailbox.Wish{}, mailbox.Owner{Account: lady})
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
