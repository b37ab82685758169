package account

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// roomMax is how much memory hashes may take together, in KiB: those at work, and those that are over and not yet
// collected. It leaves room for a hash or two beside all that the gate lets in at once.
const roomMax = 160 << 10

// room keeps the memory of hashes within bounds. They are by far the largest things of this process: left to the
// collector's own pace, which goes by a multiple of what lives, they would pile up to several times what the gate
// allows. Whoever finds no room left collects before it begins, and nobody else begins meanwhile.
type room struct {
	begin   sync.Mutex   // held by who begins
	taken   int64        // KiB since the last collection, of which some may be garbage by now
	working atomic.Int64 // KiB of the hashes at work
	collect func()
}

func newRoom() *room { return &room{collect: runtime.GC} }

// enter takes room for a hash that fills so many KiB. It waits for nobody's hash: what is at work has been counted, and
// the gate sees to it that it leaves room. Whoever has come in calls leave.
func (r *room) enter(kib int64) (leave func()) {
	r.begin.Lock()
	defer r.begin.Unlock()
	if r.taken+kib > roomMax {
		still := r.working.Load() // what ends from now on may not be collected yet
		r.collect()
		r.taken = still
	}
	r.taken += kib
	r.working.Add(kib)
	return func() { r.working.Add(-kib) }
}
