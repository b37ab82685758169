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

// gcPercent lets garbage grow to three times what lives. Little lives here, a few MiB, and every mail leaves some behind:
// collecting less often is worth a tenth of its time, for some 10 MiB.
const gcPercent = 300

// limitMemory sets how much memory the Go runtime uses, where the environment does not say it. The budget bounds what is in use. What is
// no longer in use stays until it is collected, which happens when it is gcPercent of what is in use, or before the memory limit is
// reached: with a full budget it is the limit that counts.
func limitMemory(cfg *config.Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(budget.MemoryLimit(memoryBudget(cfg), systemMemory()))
	}
}

const (
	returnEvery = 10 * time.Second
	returnFrom  = 64 << 20 // octets for which a collection is worth it
)

// returnMemory gives memory back to the operating system until ctx ends. The runtime by itself keeps what a burst of large mails took: an
// idle process collects every two minutes, and a process with little to do when its small heap has grown by gcPercent, long after the
// garbage of the burst could go; and what was collected goes back slowly, down to the size that the heap may grow to.
func (a *App) returnMemory(ctx context.Context) {
	debug.FreeOSMemory() // what starting up needed is not needed again
	var h held
	h.freed(heldMemory(), a.memory.InUse())
	for {
		timer := clock.System().NewTimer(returnEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		if h.worthwhile(heldMemory(), a.memory.InUse()) {
			debug.FreeOSMemory()
			h.freed(heldMemory(), a.memory.InUse())
		}
	}
}

// held is the memory that the runtime holds beside what is in use of the budget, as it was when all had been given back that could be.
type held struct{ idle int64 }

// worthwhile reports whether much can be given back of the total that the runtime holds now.
func (h *held) worthwhile(total, inUse int64) bool { return total-inUse > h.idle+returnFrom }

// freed notes what is left. While much is in use that is no measure of what will be left without it: it may be less, but not more.
func (h *held) freed(total, inUse int64) {
	const little = returnFrom / 4
	if rest := total - inUse; inUse <= little || rest < h.idle {
		h.idle = rest
	}
}

// heldMemory is the memory that the runtime has from the operating system.
func heldMemory() int64 {
	samples := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	runtimemetrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64())
}

// memoryBudget is memory.budget in octets, and by default a part of the memory that the process can have.
func memoryBudget(cfg *config.Config) int64 {
	if cfg.Memory.Budget > 0 {
		return int64(cfg.Memory.Budget)
	}
	return budget.DefaultTotal(systemMemory())
}

func systemMemory() int64 { return budget.SystemMemory(os.DirFS("/")) }
