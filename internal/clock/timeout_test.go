package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

func TestWithTimeoutEndsByItsClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := clock.NewFake(time.Unix(0, 0))
		ctx, cancel := clock.WithTimeout(t.Context(), fake, time.Minute)
		defer cancel()
		time.Sleep(time.Hour) // a machine that is busy
		if err := ctx.Err(); err != nil {
			t.Errorf("WithTimeout of a minute, after an hour of real time: got the error %v, want none", err)
		}
		fake.Advance(time.Minute)
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("WithTimeout of a minute, after a minute of its clock: got the cause %v, want %v", cause, context.DeadlineExceeded)
		}
		ctx, cancel = clock.WithTimeout(t.Context(), clock.System(), time.Minute)
		defer cancel()
		began := time.Now()
		<-ctx.Done()
		if took := time.Since(began); took != time.Minute {
			t.Errorf("WithTimeout of a minute by the system clock ended after %v, want a minute", took)
		}
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WithTimeout of a minute by the system clock, after a minute: got the error %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

func TestCanceledTimeoutLeavesNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := clock.NewFake(time.Unix(0, 0))
		ctx, cancel := clock.WithTimeout(t.Context(), fake, time.Minute)
		cancel()
		cancel()
		if err := ctx.Err(); !errors.Is(err, context.Canceled) || fake.Waiting() != 0 {
			t.Errorf("WithTimeout after cancel: got the error %v and %d timers, want %v and none", err, fake.Waiting(), context.Canceled)
		}
	})
}
