package account_test

import (
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/account"
)

// However hashes begin and end beside each other, those at work and those that no collection has taken yet stay within
// the bound.
func TestHashesStayWithinTheirMemory(t *testing.T) {
	const kib, slots, each = 19456, 6, 200
	var mu sync.Mutex
	working, garbage, collections := 0, 0, 0
	r := account.NewRoom(func() {
		mu.Lock()
		defer mu.Unlock()
		garbage = 0
		collections++
	})
	var all sync.WaitGroup
	for range slots {
		all.Go(func() {
			for range each {
				leave := r.Enter(kib)
				mu.Lock()
				working++
				if held := (working + garbage) * kib; held > account.RoomMax {
					t.Errorf("%d KiB are held by %d at work and %d that are over", held, working, garbage)
				}
				mu.Unlock()
				mu.Lock()
				working--
				garbage++
				mu.Unlock()
				leave()
			}
		})
	}
	all.Wait()
	if most := slots * each / 2; collections == 0 || collections > most {
		t.Errorf("%d collections for %d hashes, want %d at most", collections, slots*each, most)
	}
}
