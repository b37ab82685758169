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

// Task is a periodic job.
type Task struct {
	Name  string        // identifies it in the database
	Every time.Duration // the longest time from the end of one run to the start of the next
	Do    func(context.Context) error

	// Due returns when the task is due before Every has passed, zero for never. It may be nil.
	Due func(context.Context) (time.Time, error)
	// Nudge starts a run at once when it receives. It may be nil.
	Nudge <-chan struct{}
}

const (
	// scheduleLease bounds how long a process that died keeps others from running a task.
	scheduleLease = 8 * time.Second
	// renewEvery is the interval of renewing a lease. Several renewals may fail before the lease ends.
	renewEvery = 2 * time.Second
	// scheduleRetry is the longest pause before a task that failed is run again. After an outage of the database it is how long a process
	// that serves again still counts as not ready.
	scheduleRetry = 2 * time.Second
)

// Schedule runs tasks, each on its own goroutine, so that a slow task does not delay others. It runs each task at the start, unless the task
// is shared and its row in the database has a later time.
type Schedule struct {
	clock clock.Clock
	log   *slog.Logger
	db    *db.DB // of the leases; nil: no other process runs these tasks
	tasks []*scheduled
}

type scheduled struct {
	Task
	next  time.Time // the next run, without a database
	held  int64     // the end of this process's last lease, by which it recognizes it in the database
	fault faultBox  // of the last run
	polls faultBox  // of finding out whether it is due
}

// NewSchedule returns a schedule of tasks that this process runs independently of others.
func NewSchedule(c clock.Clock, log *slog.Logger, tasks ...Task) *Schedule {
	s := &Schedule{clock: c, log: log}
	for _, t := range tasks {
		s.tasks = append(s.tasks, &scheduled{Task: t})
	}
	return s
}

// Share makes the processes that share a database run each task in one process at a time, and all together as often as a single process
// would. It must be called before Run.
func (s *Schedule) Share(d *db.DB) { s.db = d }

// Run runs the tasks until ctx ends and the last of them has returned.
func (s *Schedule) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, t := range s.tasks {
		all.Go(func() { s.follow(ctx, t) })
	}
}

// Healthy returns an error with the names of the tasks whose last run failed. The error is public; the log has the causes.
func (s *Schedule) Healthy() error {
	var faults []error
	for _, t := range s.tasks {
		if t.fault.load() != nil || t.polls.load() != nil {
			faults = append(faults, fmt.Errorf("%s: failed", t.Name))
		}
	}
	return errors.Join(faults...)
}

func (s *Schedule) follow(ctx context.Context, t *scheduled) {
	for nudged := false; ctx.Err() == nil; {
		until, ran, err := s.turn(ctx, t, nudged)
		if err != nil && ctx.Err() == nil { // a task cancelled by the shutdown has not failed
			s.log.Error("periodic job failed", "task", t.Name, "error", err)
		}
		pending := nudged && !ran // for example, because another process was running the task
		nudged = s.sleep(ctx, t, until) || pending
	}
}

// sleep waits until a time or a nudge, and reports whether it was a nudge.
func (s *Schedule) sleep(ctx context.Context, t *scheduled, until time.Time) (nudged bool) {
	timer := s.clock.NewTimer(until.Sub(s.clock.Now()))
	defer timer.Stop()
	if !s.clock.Now().Before(until) {
		return false // the time passed before the timer was set
	}
	select {
	case <-timer.C:
	case <-t.Nudge:
		return true
	case <-ctx.Done():
	}
	return false
}

// turn runs a task if it is due and no other process runs it. It returns when to check again, and whether it ran the task.
func (s *Schedule) turn(ctx context.Context, t *scheduled, nudged bool) (until time.Time, ran bool, err error) {
	now := s.clock.Now()
	at, l, err := s.due(ctx, t, now, nudged)
	t.polls.store(err)
	if err != nil {
		return s.after(t, err), false, err
	}
	if later := now.Add(t.Every); at.After(later) {
		return later, false, nil
	}
	if at.After(now) {
		return at, false, nil
	}
	ran, err = s.do(ctx, t, l)
	t.fault.store(err)
	if err != nil {
		return s.after(t, err), ran, err
	}
	return now, ran, nil // check again to find out when the next run is
}

// due returns when a task is due.
func (s *Schedule) due(ctx context.Context, t *scheduled, now time.Time, nudged bool) (at time.Time, l lease, err error) {
	if l, err = s.look(ctx, t, now); err != nil {
		return at, l, err
	}
	at = l.next
	switch {
	case nudged:
		at = now
	case t.Due != nil && t.fault.load() == nil: // a failed task waits for its retry
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

// after returns when a task is run again after one that returned fault.
func (s *Schedule) after(t *scheduled, fault error) time.Time {
	pause := t.Every
	if fault != nil {
		pause = min(pause, scheduleRetry)
	}
	return s.clock.Now().Add(pause)
}

// look returns the state of a task.
func (s *Schedule) look(ctx context.Context, t *scheduled, now time.Time) (l lease, err error) {
	if s.db == nil {
		return lease{next: t.next}, nil
	}
	if t.next.IsZero() { // the first time in this process
		if _, err := s.update(ctx, insertSchedule, t.Name, now.UnixMicro()); err != nil {
			return l, err
		}
		t.next = now
	}
	return leaseOf(ctx, s.db, t.Name)
}

// do runs a task, under a lease if it is shared. ran is false if another process was faster or the lease could not be claimed.
func (s *Schedule) do(ctx context.Context, t *scheduled, l lease) (ran bool, err error) {
	if s.db != nil {
		return s.doAlone(ctx, t, l)
	}
	err = t.Do(ctx)
	t.next = s.after(t, err)
	return true, err
}
