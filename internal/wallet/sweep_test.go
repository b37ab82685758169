package wallet_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wallet"
)

// An account may have a number of unpaid orders; paid and expired ones do not count.
func TestOpenOrdersAreBounded(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		params := wallet.OrderParams{Provider: wallet.Bankpay, Amount: 10_000, Currency: wallet.VND}
		first := k.order(10_000)
		var made atomic.Int64
		var all sync.WaitGroup
		for range 8 { // at the same time they have no more
			all.Go(func() {
				for range 8 {
					if _, err := k.Order(context.Background(), k.ada, params, ""); err == nil {
						made.Add(1)
					} else if !problem.Has(err, problem.TopupLimitReached) {
						t.Errorf("Order beside others = %v, want an order or the problem %v", err, problem.TopupLimitReached)
					}
				}
			})
		}
		all.Wait()
		if made.Load() != 49 {
			t.Errorf("%d orders were made beside the first, want 49", made.Load())
		}
		if _, err := k.Order(t.Context(), newAccount(k.clock), params, ""); err != nil {
			t.Errorf("another account: %v", err)
		}
		k.reportTransfer("in", 10_000, ourBank().AccountNumber, first.Memo)
		k.reconcile()
		k.order(10_000)
		if _, err := k.Order(t.Context(), k.ada, params, ""); !problem.Has(err, problem.TopupLimitReached) {
			t.Errorf("one too many: %v, want the problem %v", err, problem.TopupLimitReached)
		}
		k.clock.Advance(24 * time.Hour)
		k.order(10_000)
	})
}

func TestSweepDeletesUnpaidOrders(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		paid, named, unpaid := k.order(10_000), k.order(20_000), k.order(30_000)
		k.reportTransfer("in", 10_000, ourBank().AccountNumber, paid.Memo)
		left := k.reportTransfer("in", 20_001, ourBank().AccountNumber, named.Memo)
		k.reconcile()
		sweep := func() {
			t.Helper()
			if err := k.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		k.clock.Advance(90*24*time.Hour - time.Microsecond)
		fresh := k.order(10_000)
		sweep()
		if n := count(t, d, "topup_order"); n != 4 {
			t.Errorf("%d orders a moment early, want 4", n)
		}
		k.clock.Advance(time.Microsecond)
		sweep()
		if _, err := k.FindOrder(t.Context(), k.ada, unpaid.ID); !problem.Has(err, problem.OrderNotFound) {
			t.Errorf("the unpaid order: %v, want the problem %v", err, problem.OrderNotFound)
		}
		for _, o := range []*wallet.Order{paid, named, fresh} {
			if _, err := k.FindOrder(t.Context(), k.ada, o.ID); err != nil {
				t.Errorf("%d VND: %v", o.Amount, err)
			}
		}
		if err := k.ResolveToAccount(t.Context(), left, k.ada, by("paid a dong more")); err != nil {
			t.Error(err)
		}
	})
}

func TestSweepDeletesManyOrders(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	k := newFixture(t, d)
	for range 25 {
		for range 50 {
			k.order(10_000)
		}
		k.clock.Advance(24 * time.Hour)
	}
	k.clock.Advance(90 * 24 * time.Hour)
	if err := k.Sweep(t.Context()); err != nil || count(t, d, "topup_order") != 0 {
		t.Errorf("Sweep = %v, and %d orders are left, want no error and 0", err, count(t, d, "topup_order"))
	}
}
