package httpkit

import (
	"context"
	"errors"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

// memoryWait is how long a call waits for memory before it fails with 503 (docs/spec/limits.md, Memory).
const memoryWait = 5 * time.Second

// Reserve waits until the memory budget has n octets for the call that ctx belongs to, and leases them until its response
// is written. Call it before allocating. Error: budget.ErrExhausted, which clients see as server.unavailable.
func (k *Kit) Reserve(ctx context.Context, kind budget.Kind, n int64) error {
	c := callOf(ctx)
	lease := k.Memory.TryAcquire(kind, c.identity(), n)
	if lease == nil {
		waiting, stop := k.withTimeout(ctx, memoryWait)
		defer stop()
		var err error
		if lease, err = k.Memory.Acquire(waiting, kind, c.identity(), n); err != nil {
			return err
		}
	}
	c.leases = append(c.leases, lease)
	return nil
}

// end ends what the call holds.
func (c *call) end() {
	c.release()
	for _, f := range c.ended {
		f()
	}
}

// Release ends the leases of the call that ctx belongs to, so that it can reserve other memory instead.
func (k *Kit) Release(ctx context.Context) { callOf(ctx).release() }

// release ends the leases of a call.
func (c *call) release() {
	for _, lease := range c.leases {
		lease.Release()
	}
	c.leases = nil
}

// Keep reduces the leases of a call to the n octets of its response. A large lease becomes a small one where n allows it,
// so that it leaves the part of the budget that the client's other large calls need.
func (k *Kit) Keep(ctx context.Context, n int64) error {
	c := callOf(ctx)
	if n <= k.Memory.Small() {
		c.release()
		return k.Reserve(ctx, budget.Response, n)
	}
	for _, lease := range c.leases {
		lease.Shrink(lease.Size() - n)
	}
	return nil
}

var errTimeout = errors.New("the wait timed out")

// withTimeout is context.WithTimeout by the service's clock.
func (k *Kit) withTimeout(ctx context.Context, d time.Duration) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := k.Clock.NewTimer(d)
	go func() {
		select {
		case <-timer.C:
			cancel(errTimeout)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { timer.Stop(); cancel(nil) }
}

// noMemory is the problem of a call whose wait for memory timed out.
func noMemory() *problem.Problem {
	p := problem.Detailf(problem.ServerUnavailable, "too much is in progress for the memory of this server")
	p.RetryAfter = memoryWait
	return p
}
