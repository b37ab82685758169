package app

import (
	"context"
	"fmt"
	"log/slog"
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
}

type task struct {
	name string
	do   func(context.Context) error
}

func (a *App) sweeps() []task {
	return []task{
		{"erase mailboxes", func(ctx context.Context) error { _, err := a.boxes.Sweep(ctx, a.mail); return err }},
		{"end guest sessions", a.guests.Sweep},
		{"erase originals", func(context.Context) error { _, err := a.originals.Sweep(a.clock.Now()); return err }},
		{"reload domains", a.domains.Reload},
	}
}

// run goes round until ctx ends. A task that fails is tried again in the next round.
func (s *sweeper) run(ctx context.Context) {
	for {
		s.round(ctx)
		timer := s.clock.NewTimer(s.every)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (s *sweeper) round(ctx context.Context) {
	var fault error
	for _, t := range s.tasks {
		if err := t.do(ctx); err != nil && ctx.Err() == nil {
			fault = fmt.Errorf("%s: %w", t.name, err)
			s.log.Error("a scheduled task failed", "task", t.name, "error", err)
		}
	}
	s.fault.Store(&fault)
}

// healthy is the fault of the last round, or nil.
func (s *sweeper) healthy() error {
	if f := s.fault.Load(); f != nil {
		return *f
	}
	return nil
}
