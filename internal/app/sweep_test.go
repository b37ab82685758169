package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// rounds runs a sweeper until the test ends and tells of each of its rounds.
func rounds(t *testing.T, c *clock.Fake, due func() (time.Time, error), fault func() error) <-chan time.Time {
	t.Helper()
	began := make(chan time.Time)
	ctx, cancel := context.WithCancel(context.Background())
	s := &sweeper{
		every: time.Hour, clock: c, log: slog.New(slog.DiscardHandler),
		due: func(context.Context) (time.Time, error) { return due() },
		tasks: []task{{"count", func(ctx context.Context) error {
			select {
			case began <- c.Now():
			case <-ctx.Done():
			}
			return fault()
		}}},
	}
	ended := make(chan struct{})
	go func() { defer close(ended); s.run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return began
}

// asleep waits until the sweeper has set its timer.
func asleep(c *clock.Fake) {
	for c.Waiting() == 0 {
		time.Sleep(time.Millisecond) // leaves the processor to the sweeper; it decides nothing
	}
}

func nothing() error { return nil }

func TestARoundBeginsWhenSomethingIsDue(t *testing.T) {
	start := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	c := clock.NewFake(start)
	due := make(chan time.Time, 1)
	began := rounds(t, c, func() (time.Time, error) { return <-due, nil }, nothing)
	for _, next := range []struct{ due, begins time.Duration }{
		{10 * time.Minute, 10 * time.Minute},
		{0, 70 * time.Minute}, // never: an hour later
		{9 * time.Hour, 130 * time.Minute},
		{131 * time.Minute, 131 * time.Minute},
	} {
		<-began
		if next.due == 0 {
			due <- time.Time{}
		} else {
			due <- start.Add(next.due)
		}
		asleep(c)
		at := start.Add(next.begins)
		c.Advance(at.Sub(c.Now()) - time.Microsecond)
		if c.Waiting() == 0 {
			t.Fatalf("a round began before %s", next.begins)
		}
		c.Advance(time.Microsecond)
	}
	if at := <-began; !at.Equal(start.Add(131 * time.Minute)) {
		t.Errorf("the last began at %s", at)
	}
	due <- time.Time{}
}

func TestWhatComesDueBeforeTheTimerIsSetIsNotSleptOver(t *testing.T) {
	start := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	c := clock.NewFake(start)
	began := rounds(t, c, func() (time.Time, error) {
		c.Advance(time.Minute) // while it is being looked up
		return c.Now().Add(-time.Second), nil
	}, nothing)
	for range 3 {
		<-began
	}
}

func TestAfterAFaultTheNextRoundIsNotBegunAtOnce(t *testing.T) {
	start := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	c := clock.NewFake(start)
	began := rounds(t, c, func() (time.Time, error) { return start, nil }, func() error { return errors.New("broken") })
	for n := range 3 {
		if at := <-began; !at.Equal(start.Add(time.Duration(n) * time.Hour)) {
			t.Errorf("round %d began at %s", n, at)
		}
		asleep(c)
		c.Advance(time.Hour)
	}
}
