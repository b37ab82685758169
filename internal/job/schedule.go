package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
)

// Task is what has to be done now and then.
type Task struct {
	Name  string        // identifies it in the database
	Every time.Duration // the longest from the end of one time to the beginning of the next
	Do    func(context.Context) error

	// Due tells when there is something to do before Every is over, zero for never; nil: nobody knows.
	Due func(context.Context) (time.Time, error)
	// Nudge has it done at once when it receives; nil: nothing does.
	Nudge <-chan struct{}
}

const (
	// scheduleLease bounds how long a process that died keeps a task from the others.
	scheduleLease = 8 * time.Second
	// renewEvery is how often a process that lives renews its lease. Several attempts may fail before the lease ends.
	renewEvery = 2 * time.Second
	// scheduleRetry is when a task that failed is done again, if it is not due anyway.
	scheduleRetry = 5 * time.Second
)

// Schedule does tasks, each on its own goroutine, so that a slow one keeps none of the others waiting. At the start each is
// done at once, unless it is shared and the database knows better.
type Schedule struct {
	clock clock.Clock
	log   *slog.Logger
	db    *db.DB // where the leases are; nil: no other process does these tasks
	tasks []*scheduled
}

type scheduled struct {
	Task
	next  time.Time // when it is done next, where no database says so
	held  int64     // the end of the lease that this process took last: if that is still there, it is this one's
	fault faultBox  // of the last time
	blind faultBox  // why nobody can tell whether it is due
}

// NewSchedule makes a schedule of tasks that this process does, whatever others do.
func NewSchedule(c clock.Clock, log *slog.Logger, tasks ...Task) *Schedule {
	s := &Schedule{clock: c, log: log}
	for _, t := range tasks {
		s.tasks = append(s.tasks, &scheduled{Task: t})
	}
	return s
}

// Share has each task done by one process at a time of all that share the database, and as often by all of them together as
// it would be by one. It is called before Run.
func (s *Schedule) Share(d *db.DB) { s.db = d }

// Run does the tasks until ctx ends, and returns when the last of them has.
func (s *Schedule) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, t := range s.tasks {
		all.Go(func() { s.follow(ctx, t) })
	}
}

// Healthy names the tasks that failed the last time, or is nil. It is for everybody; the log says why.
func (s *Schedule) Healthy() error {
	var faults []error
	for _, t := range s.tasks {
		if t.fault.load() != nil || t.blind.load() != nil {
			faults = append(faults, fmt.Errorf("%s: failed", t.Name))
		}
	}
	return errors.Join(faults...)
}

func (s *Schedule) follow(ctx context.Context, t *scheduled) {
	for nudged := false; ctx.Err() == nil; {
		until, err := s.turn(ctx, t, nudged)
		if err != nil && ctx.Err() == nil { // what the stop cuts off has not failed
			s.log.Error("a scheduled task failed", "task", t.Name, "error", err)
		}
		nudged = s.sleep(ctx, t, until)
	}
}

// sleep waits until a time, or until the task is nudged, which it tells.
func (s *Schedule) sleep(ctx context.Context, t *scheduled, until time.Time) (nudged bool) {
	timer := s.clock.NewTimer(until.Sub(s.clock.Now()))
	defer timer.Stop()
	if !s.clock.Now().Before(until) {
		return false // it was over before the timer was set
	}
	select {
	case <-timer.C:
	case <-t.Nudge:
		return true
	case <-ctx.Done():
	}
	return false
}

// turn does a task if its time has come and nobody else does it, and returns when to look again.
func (s *Schedule) turn(ctx context.Context, t *scheduled, nudged bool) (until time.Time, err error) {
	now := s.clock.Now()
	at, l, err := s.due(ctx, t, now, nudged)
	t.blind.store(err)
	if err != nil {
		return s.after(t, err), err
	}
	if later := now.Add(t.Every); at.After(later) {
		return later, nil
	}
	if at.After(now) {
		return at, nil
	}
	err = s.do(ctx, t, l)
	t.fault.store(err)
	if err != nil {
		return s.after(t, err), err
	}
	return now, nil // to find out when the next time is
}

// due is when a task is to be done, by what is known of it.
func (s *Schedule) due(ctx context.Context, t *scheduled, now time.Time, nudged bool) (at time.Time, l lease, err error) {
	if l, err = s.look(ctx, t, now); err != nil {
		return at, l, err
	}
	at = l.next
	switch {
	case nudged:
		at = now
	case t.Due != nil && t.fault.load() == nil: // what failed may still be due
		due, err := t.Due(ctx)
		if err != nil {
			return at, l, err
		}
		if !due.IsZero() && due.Before(at) {
			at = due
		}
	}
	if l.until.After(at) && db.Micros(l.until) != t.held {
		at = l.until
	}
	return at, l, nil
}

// after is when a task is done again, by how it went.
func (s *Schedule) after(t *scheduled, fault error) time.Time {
	pause := t.Every
	if fault != nil {
		pause = min(pause, scheduleRetry)
	}
	return s.clock.Now().Add(pause)
}

// look is what is known of a task before its turn.
func (s *Schedule) look(ctx context.Context, t *scheduled, now time.Time) (l lease, err error) {
	if s.db == nil {
		return lease{next: t.next}, nil
	}
	if t.next.IsZero() { // this process looks for the first time
		if _, err := s.update(ctx, insertSchedule, t.Name, now.UnixMicro()); err != nil {
			return l, err
		}
		t.next = now
	}
	return leaseOf(ctx, s.db, t.Name)
}

// do does a task, under a lease where other processes may.
func (s *Schedule) do(ctx context.Context, t *scheduled, l lease) error {
	if s.db != nil {
		return s.doAlone(ctx, t, l)
	}
	err := t.Do(ctx)
	t.next = s.after(t, err)
	return err
}
