package message

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/wake"
)

// Bond ties a wait to what it rests on beside its mailbox, such as the developer key of the caller. The zero Bond ties it
// to nothing.
type Bond struct {
	WakeKey string                      // of wake.Hub: woken when Check may answer otherwise than before
	Check   func(context.Context) error // called after every look; an error ends the wait, and is its answer
}

// bondEvery is how often a wait with a bond looks again without a wake-up: an account is disabled by a command, in a process
// that cannot wake the service's.
const bondEvery = 5 * time.Second

// wait answers with what look finds in a mailbox, and waits for it at most so long. It ends early when the mailbox does,
// since nothing can come any more, and when b does.
func wait[T any](
	ctx context.Context, s *Service, box id.Mailbox, most time.Duration, b Bond,
	look func(context.Context) (value T, found bool, err error),
) (T, error) {
	if most <= 0 {
		value, _, err := look(ctx)
		return value, err
	}
	var again time.Duration
	if b.Check != nil {
		again = bondEvery
	}
	return wake.UntilEither(ctx, s.hub, string(box), b.WakeKey, most, again, func(ctx context.Context) (T, bool, error) {
		select {
		case s.asides <- struct{}{}:
			defer func() { <-s.asides }()
		case <-ctx.Done():
			var none T
			return none, false, ctx.Err()
		}
		return aside(func() (T, bool, error) {
			value, found, err := look(ctx)
			if err == nil && b.Check != nil { // behind the look, so that what was found is not answered after the end
				err = b.Check(ctx)
			}
			if found || err != nil {
				return value, true, err
			}
			live, err := s.boxes.Live(ctx, box)
			return value, !live, err
		})
	})
}

// asidesMax bounds the reads of waiting calls at one time: more than the database reads at once, and few enough that
// thousands of calls that begin together, or are woken together, do not all have such a goroutine at once.
const asidesMax = 32

// aside runs a read on a goroutine of its own. A read of the database needs a stack several times that of a waiting call,
// and a stack does not shrink while its goroutine sleeps: with ten thousand calls waiting that is what they cost.
func aside[T any](read func() (T, bool, error)) (value T, done bool, err error) {
	var fault any
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { fault = recover() }()
		value, done, err = read()
	}()
	<-ended
	if fault != nil {
		panic(fault) // the call's affair, not the program's
	}
	return value, done, err
}
