package account

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// hashMemoryTotal bounds the memory of password hashes in KiB: of those being computed, and of finished ones whose memory is
// not collected yet. It is a hash or two above hashMemoryMax, which is the most that the gate admits at once.
const hashMemoryTotal = 160 << 10

// hashMemory keeps the memory of password hashes within hashMemoryTotal. They are by far the largest allocations of the
// process. The garbage collector paces itself by a multiple of the live heap and would let finished hashes pile up to
// several times what the gate admits. A caller that would exceed the bound runs a collection first, under the lock. With
// three hashes at a time the heap has 152 MiB in use at most, and 228 to 285 without (BenchmarkHashMemory); the time is the
// same.
type hashMemory struct {
	mu        sync.Mutex
	allocated int64        // KiB since the last collection, of which some may be garbage; guarded by mu
	inUse     atomic.Int64 // KiB of the hashes being computed
	collect   func()
}

// newHashMemory returns a hashMemory that collects with runtime.GC, which returns when the collection is complete.
// Tests replace collect.
func newHashMemory() *hashMemory { return &hashMemory{collect: runtime.GC} }

// acquire accounts for a hash of so many KiB. It does not wait for other hashes, since the gate bounds those in use. The
// caller calls release when the hash is computed.
func (m *hashMemory) acquire(kib int64) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.allocated+kib > hashMemoryTotal {
		inUse := m.inUse.Load() // before collecting: what ends from now on may not be collected yet
		m.collect()
		// What remains is at least the hashes that were being computed; the rest of allocated was garbage.
		m.allocated = inUse
	}
	m.allocated += kib
	m.inUse.Add(kib)
	return func() { m.inUse.Add(-kib) }
}
