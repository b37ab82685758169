package app

import (
	"context"
	"os"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
)

// limitMemory sets the memory limit of the Go runtime unless the operator has set GOMEMLIMIT. The memory budget bounds only
// what is in use. Garbage stays until it amounts to as much as the live heap (GOGC, docs/decisions/0042) or the memory limit
// is near; with a full budget the limit comes first. It is called once, before anything is allocated from the budget.
func limitMemory(cfg *config.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(budget.MemoryLimit(memoryBudget(cfg), systemMemory()))
	}
}

// startupTime is how long the start of the service counts as going on, from when it serves.
const startupTime = time.Second

// deferCollection lets the heap grow to 64 MiB before garbage is collected, until collect is called. The memory limit stays
// in effect, and so does GOGC if the operator has set it. At the end of a start the heap has some 16 MiB. Go's default would
// collect it four times on the way, which takes a tenth of the processor time.
func deferCollection() (collect func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	const percent = 1600 // of the 4 MiB that GOGC is a percentage of at least
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

const (
	// With these two values memory is returned well within the 20 seconds of docs/operating.md#memory.
	returnEvery = 10 * time.Second // how often it is checked whether memory should be returned
	returnFrom  = 64 << 20         // octets that justify the cost of a garbage collection
)

// returnMemory returns memory to the operating system after bursts, until ctx ends; Serve runs it on a goroutine of
// its own. Without it the runtime keeps what a burst of large mails took: an idle process collects every two minutes,
// a process with little to do collects when its small heap has doubled, and the freed pages go back slowly.
// docs/decisions/0042 has the choice; docs/operating.md#memory promises the memory back within 20 seconds, which
// test/system and test/blackbox check.
//
// What only starting needed is returned after startupTime, so that the first clients do not wait for it. Then collect is called.
func (a *App) returnMemory(ctx context.Context, collect func()) {
	pause(ctx, startupTime)
	collect()
	debug.FreeOSMemory()
	if err := unmapProgram(); err != nil {
		a.log.Debug("the program's pages stay in memory", "error", err)
	}
	var baseline memoryBaseline
	baseline.update(heldMemory(), a.memory.InUse())
	for pause(ctx, returnEvery) {
		if baseline.exceeded(heldMemory(), a.memory.InUse()) {
			debug.FreeOSMemory()
			baseline.update(heldMemory(), a.memory.InUse())
		}
	}
}

// pause waits for d, and returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := clock.System().NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// memoryBaseline is what the runtime holds right after memory was returned, beyond the part of the budget in use. Later
// readings are compared with it. It is used by one goroutine.
type memoryBaseline struct{ idle int64 } // octets

// exceeded reports whether more than returnFrom octets can be returned. total is what the runtime holds, and inUse the part
// of the budget in use, both in octets.
func (b *memoryBaseline) exceeded(total, inUse int64) bool { return total-inUse > b.idle+returnFrom }

// update records the baseline after memory was returned. While much of the budget is in use the reading is too high, since work in
// progress takes more memory than it has acquired, so then the baseline may only fall.
func (b *memoryBaseline) update(total, inUse int64) {
	const little = returnFrom / 4
	if rest := total - inUse; inUse <= little || rest < b.idle {
		b.idle = rest
	}
}

// heldMemory returns how many octets the runtime holds from the operating system.
func heldMemory() int64 {
	samples := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	runtimemetrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64())
}

// memoryBudget returns memory.budget in octets; if it is not configured, a part of the memory that the process can
// have.
func memoryBudget(cfg *config.Config) int64 {
	if cfg.Memory.Budget > 0 {
		return int64(cfg.Memory.Budget)
	}
	return budget.DefaultTotal(systemMemory())
}

// systemMemory returns the octets of memory that the process can have: of its cgroup or of the machine; 0 if unknown.
func systemMemory() int64 { return budget.SystemMemory(os.DirFS("/")) }
