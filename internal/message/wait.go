package message

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/wake"
)

// wait answers with what look finds in a mailbox, and waits for it at most so long (design: flow 2). It ends early when
// the mailbox does: nothing can come any more.
func wait[T any](
	ctx context.Context, s *Service, box id.Mailbox, most time.Duration,
	look func(context.Context) (value T, found bool, err error),
) (T, error) {
	if most <= 0 {
		value, _, err := look(ctx)
		return value, err
	}
	return wake.Until(ctx, s.hub, string(box), most, func(ctx context.Context) (T, bool, error) {
		select {
		case s.asides <- struct{}{}:
			defer func() { <-s.asides }()
		case <-ctx.Done():
			var none T
			return none, false, ctx.Err()
		}
		return aside(func() (T, bool, error) {
			value, found, err := look(ctx)
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
