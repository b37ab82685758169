package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// memoryWait is how long a call waits for memory before it is answered 503 (docs/spec/limits.md, Memory).
const memoryWait = 5 * time.Second

// reserve waits until the memory budget has n octets for the call that ctx belongs to, which has them until its answer is written.
// It is called before they are allocated. Error: budget.ErrExhausted, which is shown as server.unavailable.
func (a *API) reserve(ctx context.Context, k budget.Kind, n int64) error {
	c := request(ctx)
	owner := ratelimit.AddrIdentity(c.client)
	lease := a.Memory.TryAcquire(k, owner, n)
	if lease == nil {
		waiting, stop := a.within(ctx, memoryWait)
		defer stop()
		var err error
		if lease, err = a.Memory.Acquire(waiting, k, owner, n); err != nil {
			return err
		}
	}
	c.leases = append(c.leases, lease)
	return nil
}

// release gives back what reserve has given to a call.
func (c *call) release() {
	for _, lease := range c.leases {
		lease.Release()
	}
	c.leases = nil
}

// keep gives back what a call has reserved beyond n octets for its answer. A large reservation becomes a small one where it can, so that it
// leaves the part of the budget that other large ones of the client need.
func (a *API) keep(ctx context.Context, n int64) error {
	c := request(ctx)
	if n <= a.Memory.Small() {
		c.release()
		return a.reserve(ctx, budget.Response, n)
	}
	for _, lease := range c.leases {
		lease.Shrink(lease.Size() - n)
	}
	return nil
}

var errWaited = errors.New("waited long enough")

// within returns a context that ends when d has passed on the service's clock.
func (a *API) within(ctx context.Context, d time.Duration) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := a.Clock.NewTimer(d)
	go func() {
		select {
		case <-timer.C:
			cancel(errWaited)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { timer.Stop(); cancel(nil) }
}

// noMemory is the problem of a call that waited for memory in vain.
func noMemory() *problem.Problem {
	p := problem.Detailf(problem.ServerUnavailable, "too much is in progress for the memory of this server")
	p.RetryAfter = memoryWait
	return p
}
