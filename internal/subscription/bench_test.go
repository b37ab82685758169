package subscription_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
)

// BenchmarkPlan is what every mail to an account pays for knowing its plan.
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

// BenchmarkBuy is a purchase with its debit, many at the same time as they share commits.
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
