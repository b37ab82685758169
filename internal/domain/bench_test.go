package domain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// BenchmarkServed measures looking up a recipient's domain, with and without its holder in the cache, for few and for many domains.
func BenchmarkServed(b *testing.B) {
	for _, n := range []int{1, 1000} {
		f := newFixture(b, dbtest.Open(b, db.Options{}))
		f.max = n
		for i := range n {
			f.verified(b, alice, fmt.Sprintf("shop-%d.dev", i))
		}
		for name, pass := range map[string]time.Duration{"remembered": 0, "read": time.Minute} {
			b.Run(fmt.Sprintf("%s of %d", name, n), func(b *testing.B) {
				for b.Loop() {
					f.clock.Advance(pass)
					if _, _, err := f.Served(b.Context(), "shop-0.dev"); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
