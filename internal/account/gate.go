package account

import (
	"context"
	"runtime"
	"time"

	"github.com/gonebox/gonebox/internal/problem"
)

// Bounds of the work that strangers can cause. A hash keeps one core busy and its whole memory occupied, so one more than
// there are cores at once would be slower for all; those few who wait get their turn within two seconds at the default
// cost, and whoever comes beyond is told to come again, once that line has passed.
const (
	hashMemoryMax = 128 << 10 // KiB, of the hashes at work
	queuePerSlot  = 64        // who may wait for each slot
	busyRetry     = 3 * time.Second
)

// gate lets a few in at once, has a few more wait in line, and sends the others away.
type gate struct {
	slots chan struct{} // held by those at work
	queue chan struct{} // held by those who wait
}

// newGate has a slot for each core, or as many as the memory allows, but one at least.
func newGate(c Cost) *gate {
	n := max(1, min(runtime.GOMAXPROCS(0), hashMemoryMax/int(c.Memory)))
	return &gate{slots: make(chan struct{}, n), queue: make(chan struct{}, n*queuePerSlot)}
}

// enter waits for a slot, first come first served. Whoever was let in calls leave. Error: rate.limited.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-g.slots }
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	default:
	}
	select {
	case g.queue <- struct{}{}:
		defer func() { <-g.queue }()
	default:
		p := problem.Detailf(problem.RateLimited, "too many sign-ins are under way; try again in a moment")
		p.RetryAfter = busyRetry
		return nil, p
	}
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
