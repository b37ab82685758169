package gonebox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	patience        = 30 * time.Second       // for the answer to a call of a wait
	grace           = 5 * time.Second        // that an answer may be late at the end of a wait
	firstWaitRetry  = 250 * time.Millisecond // the pause before a call of a wait is made again, which doubles
	slowestWaitTick = 2 * time.Second        // up to this
)

// waiting is a wait of a mailbox.
type waiting struct {
	name, address string // of the method and the mailbox, for errors
	timeout       time.Duration
	began         time.Time
	diagnosis     *Diagnosis // why the calls of the wait found nothing, as far as they said so
}

// startWait returns a wait that begins now.
func (m *Mailbox) startWait(name string, timeout time.Duration) *waiting {
	return &waiting{name: name, address: m.Address, timeout: timeout, began: time.Now()}
}

// left returns the time that is left.
func (w *waiting) left() time.Duration { return max(0, w.timeout-time.Since(w.began)) }

// learn takes over what a call found out, unless an earlier one knows more: each looks at its own time.
func (w *waiting) learn(d *Diagnosis) {
	if d != nil && (w.diagnosis == nil || len(d.Causes) > 0 && d.Causes[0].Code != "nothing_arrived") {
		w.diagnosis = d
	}
}

// call calls send until it does not fail because of the connection or with 503, as long as there is time left: a service
// that restarts refuses connections for a moment and resets those that it has. A response that says when to try again is
// respected. The error says which wait failed and after how long; it is that of ctx if ctx has ended.
func (w *waiting) call(ctx context.Context, send func(context.Context) error) error {
	for delay := firstWaitRetry; ; delay = min(2*delay, slowestWaitTick) {
		left := w.left()
		limit := min(patience, left) + grace
		limited, cancel := context.WithTimeoutCause(ctx, limit, slowError(limit))
		err := send(limited)
		cancel()
		if err == nil {
			return nil
		}
		var problem *Error
		if ctx.Err() != nil || !errors.As(err, &problem) || !problem.isTransient() || left == 0 || problem.RetryAfter > left {
			return w.ended(ctx, err)
		}
		if err := w.pause(ctx, min(cmp.Or(problem.RetryAfter, delay), w.left())); err != nil {
			return err
		}
	}
}

// pause waits for a time. Error: that of ctx.
func (w *waiting) pause(ctx context.Context, d time.Duration) error {
	if err := pause(ctx, d); err != nil {
		return w.ended(ctx, err)
	}
	return nil
}

// ended returns the error of a wait that an error ended.
func (w *waiting) ended(ctx context.Context, err error) error {
	prefix := fmt.Sprintf("%s (%s) failed after %v", w.name, w.address, time.Since(w.began).Round(100*time.Millisecond))
	var problem *Error
	if ctx.Err() != nil || !errors.As(err, &problem) {
		return fmt.Errorf("%s: %w", prefix, cmp.Or(ctx.Err(), err))
	}
	e := *problem
	e.Message = prefix + ": " + e.Message
	return &e
}

// isTransient reports whether a call that waits may try again: the service could not be reached, is not ready, or had
// too many calls. A proxy in front of a service that restarts answers 502 or 504.
func (e *Error) isTransient() bool {
	switch e.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return e.Code == "client.unreachable" || e.Code == "rate.limited"
}

// slowError is the cause of a context whose time for an answer is over, as opposed to one that the caller has ended.
type slowError time.Duration

// Error says how long there was no answer.
func (e slowError) Error() string { return "no answer within " + time.Duration(e).String() }
