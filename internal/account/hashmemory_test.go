package account_test

import (
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/account"
)

// The hashes being computed and the finished ones that are not collected yet stay within the bound.
func TestHashMemoryIsBounded(t *testing.T) {
	const kib, slots, each = 19456, 6, 200
	var mu sync.Mutex
	working, garbage, collections := 0, 0, 0
	r := account.NewHashMemory(func() {
		mu.Lock()
		defer mu.Unlock()
		garbage = 0
		collections++
	})
	var all sync.WaitGroup
	for range slots {
		all.Go(func() {
			for range each {
				release := r.Acquire(kib)
				mu.Lock()
				working++
				if held := (working + garbage) * kib; held > account.HashMemoryTotal {
					t.Errorf("%d KiB are held by %d running and %d finished hashes", held, working, garbage)
				}
				mu.Unlock()
				mu.Lock()
				working--
				garbage++
				mu.Unlock()
				release()
			}
		})
	}
	all.Wait()
	if most := slots * each / 2; collections == 0 || collections > most {
		t.Errorf("%d collections for %d hashes, want %d at most", collections, slots*each, most)
	}
}
