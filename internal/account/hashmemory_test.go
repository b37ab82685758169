package account_test

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/argon2"

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
					t.Errorf("%d KiB are held by %d running and %d finished hashes, want at most %v", held, working, garbage, account.HashMemoryTotal)
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

// BenchmarkHashMemory computes three hashes at a time, as a service on two cores does, with the garbage collector set as there, with and
// without the collections of hashMemory, and reports the most memory that the heap had in use.
func BenchmarkHashMemory(b *testing.B) {
	const kib, slots = 19456, 3
	for name, collect := range map[string]func(){"collected": runtime.GC, "left": func() {}} {
		b.Run(name, func(b *testing.B) {
			defer debug.SetGCPercent(debug.SetGCPercent(300))
			debug.FreeOSMemory()
			m := account.NewHashMemory(collect)
			var peak atomic.Uint64
			var all sync.WaitGroup
			for range slots {
				all.Go(func() {
					var stats runtime.MemStats
					for range b.N {
						release := m.Acquire(kib)
						argon2.IDKey([]byte("password"), []byte("salt of a hash"), 2, kib, 1, 32)
						release()
						runtime.ReadMemStats(&stats)
						peak.Store(max(peak.Load(), stats.HeapInuse))
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(peak.Load()>>20), "MiB-peak")
		})
	}
}
