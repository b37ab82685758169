package wallet_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wallet"
)

// book credits a positive number of points and debits a negative one.
func book(t *testing.T, s *wallet.Service, d *db.DB, account id.Account, points int64, reference string) error {
	t.Helper()
	return d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		if points < 0 {
			return s.DebitTx(ctx, tx, account, -points, reference, "plus", "yearly")
		}
		_, err := s.CreditTx(ctx, tx, account, wallet.Adjustment, points, reference, "")
		return err
	})
}

func balanceOf(t *testing.T, s *wallet.Service, account id.Account) int64 {
	t.Helper()
	w, err := s.Of(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return w.Balance
}

func TestBalanceIsTheSumOfTheEntries(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon())
		s := newService(d, c)
		ada, eve := newAccount(c), newAccount(c)
		for _, points := range []int64{100, -30, 5} {
			if err := book(t, s, d, ada, points, "ref"); err != nil {
				t.Fatal(err)
			}
			c.Advance(time.Second)
		}
		if got := balanceOf(t, s, ada); got != 75 {
			t.Errorf("balance %d, want 75", got)
		}
		if got := balanceOf(t, s, eve); got != 0 {
			t.Errorf("another's balance %d, want 0", got)
		}
		all, err := s.Entries(t.Context(), ada, 0, 10)
		if err != nil || len(all) != 3 {
			t.Fatalf("Entries = %v, %v, want 3", all, err)
		}
		e := all[1]
		if e.Kind != wallet.Subscription || e.Amount != -30 || e.BalanceAfter != 70 || e.Sequence != 2 || e.Note != "plus, yearly" || e.Plan != "plus" || e.Interval != "yearly" || e.Reference != "ref" ||
			!e.CreatedAt.Equal(noon().Add(time.Second)) {
			t.Errorf(`all[1] = %+v, want Kind %v, Amount -30, BalanceAfter 70, Sequence 2, Note "plus, yearly", Plan "plus", Interval "yearly", Reference "ref" and CreatedAt %v`, e, wallet.Subscription, noon().Add(time.Second))
		}
		if older, err := s.Entries(t.Context(), ada, 2, 10); err != nil || len(older) != 1 || older[0].Amount != 100 {
			t.Errorf("Entries before the sequence 2 = %v, %v, want one over 100 points", older, err)
		}
	})
}

func TestDebitBeyondTheBalanceSaysWhatIsMissing(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		fake := clock.NewFake(noon())
		s := newService(d, fake)
		ada := newAccount(fake)
		for _, c := range []struct {
			balance int64
			missing string
		}{{0, "50 points are missing"}, {20, "30 points are missing"}} {
			if c.balance > 0 {
				if err := book(t, s, d, ada, c.balance, ""); err != nil {
					t.Fatal(err)
				}
			}
			err := book(t, s, d, ada, -50, "")
			p, _ := problem.From(err)
			if !problem.Has(err, problem.WalletInsufficientPoints) || !strings.Contains(p.Detail, c.missing) {
				t.Errorf("booking -50 points = %v, want the problem %v, which says %q", err, problem.WalletInsufficientPoints, c.missing)
			}
			if got := balanceOf(t, s, ada); got != c.balance {
				t.Errorf("balance %d, want %v", got, c.balance)
			}
		}
	})
}

func TestInvalidAmountsAreRejected(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon())
		s := newService(d, c)
		for _, points := range []int64{0, -1, 1 << 62} {
			err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := s.CreditTx(ctx, tx, newAccount(c), wallet.Topup, points, "x", "")
				return err
			})
			if err == nil {
				t.Errorf("%d points were credited, want an error", points)
			}
		}
	})
}

// An entry is booked only if the caller's transaction commits.
func TestRolledBackEntryIsNotBooked(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon())
		s := newService(d, c)
		ada, changed := newAccount(c), errors.New("changed my mind")
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := s.CreditTx(ctx, tx, ada, wallet.Topup, 10, "order", "")
			return errors.Join(err, changed)
		})
		if !errors.Is(err, changed) || balanceOf(t, s, ada) != 0 {
			t.Errorf("Update = %v, and the balance is %d, want the error %v and 0", err, balanceOf(t, s, ada), changed)
		}
		if all, err := s.Entries(t.Context(), ada, 0, 10); err != nil || len(all) != 0 {
			t.Errorf("Entries = %v, %v, want none", all, err)
		}
	})
}

// The database itself rejects statements that change or delete an entry or break the chain of balances.
func TestDatabaseProtectsTheLedger(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon())
		s := newService(d, c)
		ada := newAccount(c)
		credit := func() error {
			return d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := s.CreditTx(ctx, tx, ada, wallet.Topup, 10, "ord_1", "")
				return err
			})
		}
		if err := credit(); err != nil {
			t.Fatal(err)
		}
		if err := credit(); err == nil {
			t.Error("crediting an order a second time returned no error, want it refused")
		}
		const insert = "INSERT INTO wallet_entry (account_id, sequence, id, kind, amount, balance_after, reference, note, created_at) VALUES "
		for _, statement := range []string{
			"UPDATE wallet_entry SET note = 'forged'",
			"UPDATE wallet_entry SET amount = 1000, balance_after = 1000",
			"DELETE FROM wallet_entry",
			insert + "('" + string(ada) + "', 3, 'txn_x', 'adjustment', 5, 15, '', '', 0)",   // leaves a gap
			insert + "('" + string(ada) + "', 2, 'txn_x', 'adjustment', 5, 16, '', '', 0)",   // the sum is wrong
			insert + "('" + string(ada) + "', 2, 'txn_x', 'adjustment', -11, -1, '', '', 0)", // below zero
			insert + "('" + string(ada) + "', 2, 'txn_x', 'adjustment', 0, 10, '', '', 0)",   // nothing
			insert + "('" + string(ada) + "', 2, 'txn_x', 'gift', 5, 15, '', '', 0)",         // no kind
			"UPDATE wallet SET balance = -1",
		} {
			err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, statement)
				return err
			})
			if err == nil {
				t.Errorf("done: %s, want an error", statement)
			}
		}
		if got := balanceOf(t, s, ada); got != 10 {
			t.Errorf("balance %d, want 10", got)
		}
	})
}

// With concurrent entries the ledger is a chain whose sum is the balance, which is never negative.
func TestConcurrentEntriesAddUp(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon())
		s := newService(d, c)
		rapid.Check(t, func(rt *rapid.T) {
			accounts := []id.Account{newAccount(c), newAccount(c)}
			var done sync.WaitGroup
			for range rapid.IntRange(1, 8).Draw(rt, "workers") {
				steps := rapid.SliceOfN(rapid.Int64Range(-30, 30).Filter(func(n int64) bool { return n != 0 }), 1, 6).Draw(rt, "steps")
				done.Go(func() {
					for i, points := range steps {
						if err := book(t, s, d, accounts[i%2], points, ""); err != nil && !problem.Has(err, problem.WalletInsufficientPoints) {
							t.Error(err)
						}
					}
				})
			}
			done.Wait()
			for _, account := range accounts {
				checkChain(rt, s, account)
			}
		})
	})
}

func checkChain(t *rapid.T, s *wallet.Service, account id.Account) {
	all, err := s.Entries(context.Background(), account, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for i := len(all) - 1; i >= 0; i-- {
		e := all[i]
		if sum += e.Amount; e.BalanceAfter != sum || sum < 0 || e.Sequence != int64(len(all)-i) {
			t.Errorf("entry %d of %d is %+v, want the balance %d of the sum, which is never negative, and consecutive sequences", i, len(all), e, sum)
		}
	}
	if w, err := s.Of(context.Background(), account); err != nil || w.Balance != sum {
		t.Errorf("the wallet has %d points, %v, want the sum %d of its entries", w.Balance, err, sum)
	}
}
