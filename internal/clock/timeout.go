package clock

import (
	"context"
	"time"
)

// WithTimeout is context.WithTimeout by a clock. By a Fake the context ends when the clock was advanced by d, so that no result of a
// test depends on the speed of the machine. The caller must call cancel.
func WithTimeout(ctx context.Context, c Clock, d time.Duration) (bounded context.Context, cancel context.CancelFunc) {
	if _, isSystem := c.(system); isSystem {
		return context.WithTimeout(ctx, d)
	}
	bounded, end := context.WithCancelCause(ctx)
	timer := c.NewTimer(d)
	go func() {
		select {
		case <-timer.C:
			end(context.DeadlineExceeded)
		case <-bounded.Done():
		}
	}()
	return bounded, func() { timer.Stop(); end(nil) }
}
