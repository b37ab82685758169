package ratelimit_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

// holdings is a ledger that keeps when each number of holdings was last reported.
type holdings struct {
	mu   sync.Mutex
	held map[[16]byte]int
	at   map[[16]byte]time.Time
}

func (h *holdings) Add(context.Context, int64, []ratelimit.Entry) ([]int64, error) { return nil, nil }

func (h *holdings) Hold(_ context.Context, reports []ratelimit.Holding, _ bool) ([]int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sums := make([]int, len(reports))
	for i, r := range reports {
		h.held[r.Key], h.at[r.Key], sums[i] = r.Held, time.Now(), r.Held
	}
	return sums, nil
}

// oldest returns how long ago the report of a holding was that has not been repeated for longest.
func (h *holdings) oldest() (age time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, n := range h.held {
		if n > 0 {
			age = max(age, time.Since(h.at[key]))
		}
	}
	return age
}

func TestHoldingsAreRepeatedWhileOthersChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &holdings{held: make(map[[16]byte]int), at: make(map[[16]byte]time.Time)}
		g := ratelimit.NewGauge()
		g.Share(ledger, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go g.Run(ctx)
		if _, ok := g.Acquire(ratelimit.LongPolls, "a stream", 100); !ok {
			t.Fatal("Acquire of the first of 100 was refused, want it granted")
		}
		for range 60 {
			release, _ := g.Acquire(ratelimit.LongPolls, "another client", 100)
			release()
			time.Sleep(time.Second)
			synctest.Wait()
			if age := ledger.oldest(); age >= ratelimit.HoldFor {
				t.Fatalf("a holding was last reported %s ago, want less than the %s that it is valid for", age, ratelimit.HoldFor)
			}
		}
	})
}
