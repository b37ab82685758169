// Package wake lets a caller sleep until a key changes: what long-polls wait on. It refuses to carry data: a
// sleeper that is woken reads again for itself, so a wake-up too many or one too few costs time and never a message.
package wake

import (
	"context"
	"time"
)

// Until answers with what read gives, and waits for it if there is nothing yet. It subscribes to key first and
// then calls read, so that no change between the two is missed. It returns
//
//   - as soon as read answers done or an error: that value and error;
//   - when wait has passed since the call: what one last read gives, done or not;
//   - when h is closed: the last value read, at once;
//   - when ctx ends: the zero value and ctx.Err().
//
// Every Wake of key makes it read again; any number of them during one read cost one further read. A wait of
// zero or less is a single read. Until starts no goroutine.
func Until[T any](
	ctx context.Context, h *Hub, key string, wait time.Duration,
	read func(context.Context) (value T, done bool, err error),
) (T, error) {
	if wait <= 0 {
		value, _, err := read(ctx)
		return value, err
	}
	timeout := time.NewTimer(wait) // a duration: the time itself is never read here
	defer timeout.Stop()
	t := h.join(key)
	defer h.leave(key, t)

	for {
		woken := h.arm(key, t) // before the read: what changes from here on closes woken
		value, done, err := read(ctx)
		if done || err != nil {
			return value, err
		}
		select {
		case <-woken:
		case <-h.closed:
			return value, nil
		case <-timeout.C:
			value, _, err = read(ctx)
			return value, err
		case <-ctx.Done():
			var zero T
			return zero, ctx.Err()
		}
	}
}
