// Package wake lets a caller wait until a key changes, as long-polls do. Wake-ups carry no data: a waiter reads again when it is woken, so a
// spurious or lost wake-up costs time and never a message.
package wake

import (
	"context"
	"time"
)

// Until calls read until it is done, and waits for a Wake of key in between. It subscribes to key before it calls read, so that no change
// between the two is missed. It returns
//
//   - as soon as read reports done or an error: that value and error;
//   - when wait has passed since the call: the result of one last read, done or not;
//   - when h is closed: the last value read, at once;
//   - when ctx ends: the zero value and ctx.Err().
//
// Every Wake of key makes it read again; any number of them during one read cost one further read. A wait of
// zero or less is a single read. Until starts no goroutine.
func Until[T any](
	ctx context.Context, h *Hub, key string, wait time.Duration,
	read func(context.Context) (value T, done bool, err error),
) (T, error) {
	return until(ctx, h, key, "", wait, 0, read)
}

// UntilEither is Until for two keys: a Wake of either makes it read again. It also reads every again (0: never), for
// changes that no Wake reports, such as those that a command makes in a process of its own.
func UntilEither[T any](
	ctx context.Context, h *Hub, key, other string, wait, again time.Duration,
	read func(context.Context) (value T, done bool, err error),
) (T, error) {
	return until(ctx, h, key, other, wait, again, read)
}

// until waits on key, on other unless that is "", and for again unless that is 0.
func until[T any](
	ctx context.Context, h *Hub, key, other string, wait, again time.Duration,
	read func(context.Context) (value T, done bool, err error),
) (T, error) {
	if wait <= 0 {
		value, _, err := read(ctx)
		return value, err
	}
	timeout := time.NewTimer(wait) // a duration: the time itself is never read here
	defer timeout.Stop()
	first := h.join(key)
	defer h.leave(key, first)
	var second *topic
	if other != "" {
		second = h.join(other)
		defer h.leave(other, second)
	}
	var interval *time.Timer
	var due <-chan time.Time // nil, which never is ready, without again
	if again > 0 {
		interval = time.NewTimer(again)
		defer interval.Stop()
		due = interval.C
	}
	for {
		woken := h.arm(key, first)       // before the read: what changes from here on closes woken
		var wokenByOther <-chan struct{} // nil, which never is ready, without another key
		if second != nil {
			wokenByOther = h.arm(other, second)
		}
		value, done, err := read(ctx)
		if done || err != nil {
			return value, err
		}
		switch h.sleep(ctx, woken, wokenByOther, due, timeout.C) {
		case closed:
			return value, nil
		case timedOut:
			value, _, err = read(ctx)
			return value, err
		case cancelled:
			var zero T
			return zero, ctx.Err()
		case intervalPassed:
			interval.Reset(again)
		case changed:
		}
	}
}

// cause is what ended a sleep.
type cause int

const (
	changed cause = iota
	intervalPassed
	closed
	timedOut
	cancelled
)

// sleep waits for one of the channels, for Close or for the end of ctx.
func (h *Hub) sleep(ctx context.Context, woken, wokenByOther <-chan struct{}, due, timeout <-chan time.Time) cause {
	h.asleep.Add(1)
	defer h.asleep.Add(-1)
	select {
	case <-woken:
		return changed
	case <-wokenByOther:
		return changed
	case <-due:
		return intervalPassed
	case <-h.closed:
		return closed
	case <-timeout:
		return timedOut
	case <-ctx.Done():
		return cancelled
	}
}
