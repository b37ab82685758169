package wallet_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wallet"
)

func TestOrderIsCreatedOncePerKey(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		params := wallet.OrderParams{Provider: wallet.Bankpay, Amount: 25_000, Currency: wallet.VND}
		first, err := k.Order(t.Context(), k.ada, params, "key")
		if err != nil {
			t.Fatal(err)
		}
		k.reportTransfer("in", 25_000, ourBank().AccountNumber, first.Memo)
		k.reconcile()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				again, err := k.Order(context.Background(), k.ada, params, "key")
				if err != nil {
					t.Error(err)
				} else if diff := cmp.Diff(first, again); diff != "" { // as it was then: not paid
					t.Errorf("k.Order(k.ada, params, \"key\") (-want +got):\n%s", diff)
				}
			})
		}
		all.Wait()
		params.Amount = 26_000
		if _, err := k.Order(t.Context(), k.ada, params, "key"); !problem.Has(err, problem.IdempotencyKeyReused) {
			t.Errorf(`k.Order(k.ada, params, "key") = %v, want the problem %v`, err, problem.IdempotencyKeyReused)
		}
		if n := count(t, d, "topup_order"); n != 1 {
			t.Errorf("%d orders, want 1", n)
		}
		stored, err := k.FindOrder(t.Context(), k.ada, first.ID)
		if err != nil {
			t.Fatal(err)
		}
		first.PaidAt = noon()
		if diff := cmp.Diff(first, stored); diff != "" {
			t.Errorf("k.FindOrder(k.ada, first.ID) (-want +got):\n%s", diff)
		}
	})
}
