package apiclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

const (
	maxPoll     = 25 * time.Second       // of one long-poll: proxies close connections that are idle for longer
	minPollTime = 500 * time.Millisecond // the API takes at least this long to wait for messages and find none
	minRetry    = 250 * time.Millisecond // the pause before a poll is repeated that failed or ended early, which doubles
	maxRetry    = 2 * time.Second        // up to this
)

// ErrTimeout is the error of a wait whose time is over. Commands exit with a status of its own for it.
var ErrTimeout = errors.New("no message came in time")

// Outcome is the result of polling a mailbox once.
type Outcome int

// The outcomes of a poll.
const (
	NoMessages Outcome = iota // there are no new messages
	NoMatch                   // there are new messages, none of which ends the wait
	Found                     // a message ends the wait
)

// Wait says how long to wait for mail.
type Wait struct {
	Clock   clock.Clock
	Timeout time.Duration

	// Retry reports whether a poll that failed is repeated while there is time left. It is nil if the service is this
	// process: then each poll takes as long as it may, and one that ends early ends the wait, since the process shuts down.
	Retry func(error) bool
}

// Until calls poll until it returns Found, fails for good, or the time is over, when the error is ErrTimeout. poll may let
// the service hold its call open for the given time, in whole seconds, which is all that the API accepts. Until sleeps
// through the remaining fraction of a second.
//
// A poll that failed and may be retried is repeated after Retry-After, if the response has one; if that is later than the
// timeout, the error is returned at once, like any other. So is one that ended early, which is how the service ends polls
// when it shuts down. Errors say how long was waited.
func (w Wait) Until(ctx context.Context, poll func(ctx context.Context, hold time.Duration) (Outcome, error)) error {
	began := w.Clock.Now()
	deadline := began.Add(w.Timeout)
	delay := minRetry
	for start := began; ; start = w.Clock.Now() {
		hold := max(0, deadline.Sub(start)).Truncate(time.Second)
		if w.Retry != nil {
			hold = min(hold, maxPoll)
		}
		outcome, err := poll(ctx, hold)
		now := w.Clock.Now()
		left := max(0, deadline.Sub(now))
		pause := time.Duration(0)
		switch {
		case err != nil:
			after := retryAfter(err)
			if ctx.Err() != nil || w.Retry == nil || !w.Retry(err) || left == 0 || after > left {
				return fmt.Errorf("failed after %v: %w", now.Sub(began).Round(time.Second/10), err)
			}
			pause, delay = cmp.Or(after, delay), min(2*delay, maxRetry)
		case outcome == Found:
			return nil
		case left == 0:
			return ErrTimeout
		case hold == 0:
			pause = left
		case outcome == NoMessages && now.Sub(start) < minPollTime && w.Retry == nil:
			return ErrTimeout
		case outcome == NoMessages && now.Sub(start) < minPollTime:
			pause, delay = delay, min(2*delay, maxRetry)
		default:
			delay = minRetry
		}
		if err := w.sleep(ctx, min(pause, left)); err != nil {
			return err
		}
	}
}

// retryAfter returns the Retry-After of an error, 0 if there is none.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// sleep waits for d, or until ctx ends, and then returns the error of ctx.
func (w Wait) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := w.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
