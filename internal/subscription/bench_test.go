package subscription_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
)

// BenchmarkPlan measures reading the plan, which happens for every mail to an account.
func BenchmarkPlan(b *testing.B) {
	s := open(b, dbtest.Open(b, db.Options{}))
	accounts := make([]id.Account, 1000)
	for i := range accounts {
		accounts[i] = s.account(50)
		if i%2 == 0 {
			s.buy(accounts[i], plusMonthly)
		}
	}
	n := 0
	for b.Loop() {
		if _, _, err := s.Plan(b.Context(), accounts[n%len(accounts)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// BenchmarkBuy measures a purchase with its debit; concurrent ones share commits.
func BenchmarkBuy(b *testing.B) {
	s := open(b, dbtest.Open(b, db.Options{}))
	account := s.account(1e9)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Buy(b.Context(), account, plusMonthly, ""); err != nil {
				b.Error(err)
			}
		}
	})
}
