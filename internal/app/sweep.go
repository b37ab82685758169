package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// sweeper does what has to be done now and then: erasing what is over, and noticing what another process changed.
type sweeper struct {
	every time.Duration
	clock clock.Clock
	log   *slog.Logger
	tasks []task
	fault atomic.Pointer[error] // of the last round
	slow  []*slowTask
	nudge <-chan struct{}                          // begins a round at once; nil: nothing does
	due   func(context.Context) (time.Time, error) // when the next round has something to do, zero for never; nil: not known
}

type task struct {
	name string
	do   func(context.Context) error
}

func (a *App) sweeps() []task {
	return []task{
		{"erase mailboxes", func(ctx context.Context) error { _, err := a.boxes.Sweep(ctx, a.mail); return err }},
		{"end guest sessions", a.guests.Sweep},
		{"end user tokens", a.users.Sweep},
		{"erase originals", func(ctx context.Context) error { return a.originals.sweep(ctx) }},
		{"note when keys were used", a.keys.Flush},
		{"end private domains", func(ctx context.Context) error { return a.domains.Sweep(ctx, a.boxes) }},
		{"forget idle identities", a.forgetIdle},
		{"forget idempotency keys", a.billing.answers.Sweep},
	}
}

// reloadEvery is how soon a running service notices what a command changed.
const reloadEvery = 2 * time.Second

// reloads are the tasks that notice it. They cost a read.
func (a *App) reloads() []task { return []task{{"reload domains", a.domains.Reload}} }

// slowTask is one that waits for others. It runs beside the rounds, so that nothing else waits with it, and is begun by
// the first round that does not find it under way.
type slowTask struct {
	task
	running atomic.Bool
	fault   atomic.Pointer[error] // of the last time
}

func (a *App) slowSweeps() []*slowTask {
	return []*slowTask{{task: task{"look private domains up again", a.domains.Recheck}}}
}

// run goes round until ctx ends. A task that fails is tried again in the next round.
func (s *sweeper) run(ctx context.Context) {
	var beside sync.WaitGroup
	defer beside.Wait()
	for {
		for _, t := range s.slow {
			if t.running.CompareAndSwap(false, true) {
				beside.Go(func() { s.beside(ctx, t) })
			}
		}
		s.round(ctx)
		timer := s.timer(ctx)
		select {
		case <-timer.C:
		case <-s.nudge:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// timer fires when the next round is to begin.
func (s *sweeper) timer(ctx context.Context) *clock.Timer {
	from := s.clock.Now()
	pause := s.pause(ctx, from)
	timer := s.clock.NewTimer(pause)
	if s.clock.Now().Sub(from) < pause {
		return timer
	}
	timer.Stop()
	return s.clock.NewTimer(0) // it was over before it was set
}

// pause is how long the next round is away: until something is due, and every at most. After a fault that may still be due.
func (s *sweeper) pause(ctx context.Context, now time.Time) time.Duration {
	if s.due == nil || told(&s.fault) != nil {
		return s.every
	}
	at, err := s.due(ctx)
	if err != nil || at.IsZero() {
		return s.every
	}
	return min(s.every, at.Sub(now))
}

func (s *sweeper) round(ctx context.Context) {
	var fault error
	for _, t := range s.tasks {
		if err := s.do(ctx, t); err != nil {
			fault = err
		}
	}
	s.fault.Store(&fault)
}

func (s *sweeper) beside(ctx context.Context, t *slowTask) {
	defer t.running.Store(false)
	fault := s.do(ctx, t.task)
	t.fault.Store(&fault)
}

func (s *sweeper) do(ctx context.Context, t task) error {
	err := t.do(ctx)
	if err != nil && ctx.Err() == nil { // what the stop cuts off has not failed
		s.log.Error("a scheduled task failed", "task", t.name, "error", err)
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

// healthy is the fault of the last round, or of a slow task, or nil.
func (s *sweeper) healthy() error {
	faults := []error{told(&s.fault)}
	for _, t := range s.slow {
		faults = append(faults, told(&t.fault))
	}
	return errors.Join(faults...)
}

func told(fault *atomic.Pointer[error]) error {
	if f := fault.Load(); f != nil {
		return *f
	}
	return nil
}
