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
	Name  string                      // identifies it in the database
	Every time.Duration               // the longest time from the end of one run to the start of the next
	Do    func(context.Context) error // must return soon after its context ends, since another process may then run the task

	// Due returns the time at which the task is due before Every has passed, or zero if it is not. It is called before
	// each wait, so it must be cheap. It is not called after a failed run. It may be nil.
	Due func(context.Context) (time.Time, error)
	// Wake starts a run at once when it is set. If another process is running the task, the run follows when that one has
	// ended, since it may have begun before the cause of the wake-up was committed. It may be nil.
	Wake *Signal
}

const (
	// scheduleLease is how long other processes cannot run a task after the process that runs it has died. It is short
	// enough for another process to take over within the ten seconds of docs/spec/running.md#roles.
	scheduleLease = 8 * time.Second
	// renewEvery is the interval of renewing a lease. Three renewals may fail before the lease ends.
	renewEvery = 2 * time.Second
	// scheduleRetry is the longest pause before a failed task is run again. After an outage of the database, a process is not ready again
	// for up to this long.
	scheduleRetry = 2 * time.Second
)

// Schedule runs tasks, each on its own goroutine, so that a slow task does not delay others. It runs each task at the
// start, unless the task is shared and its row in the database has a later time. With a shared schedule the clocks of
// the processes must agree within a few seconds, since leases are compared with the local time.
type Schedule struct {
	clock clock.Clock
	log   *slog.Logger
	db    *db.DB // of the leases; nil: no other process runs these tasks
	tasks []*scheduled
}

// scheduled is a task with its state, which belongs to the goroutine of the task. Only the activity and the two errors are
// read by other goroutines.
type scheduled struct {
	Task
	next     time.Time // the next run; if the schedule is shared, it is only used to know, by not being zero, that the row exists
	ownLease int64     // the end of the last lease of this process, in microseconds since 1970, by which it recognizes its own lease
	activity activity
	runErr   lastError // of the last run
	dueErr   lastError // of reading when it is due
}

// NewSchedule returns a schedule of tasks that this process runs independently of others, or with them after Share.
// Names must be unique. It starts no goroutine.
func NewSchedule(c clock.Clock, log *slog.Logger, tasks ...Task) *Schedule {
	s := &Schedule{clock: c, log: log}
	for _, t := range tasks {
		s.tasks = append(s.tasks, &scheduled{Task: t})
	}
	return s
}

// Share makes the processes that share a database run each task in one process at a time, and as often as a single process
// would run it. It must be called before Run. Tasks with the same name must be the same in every process.
func (s *Schedule) Share(d *db.DB) { s.db = d }

// Run runs the tasks until ctx ends, which cancels running tasks, and returns when the last of them has returned.
// Errors of tasks are logged, and the task runs again after at most two seconds.
func (s *Schedule) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, t := range s.tasks {
		all.Go(func() { s.runTask(ctx, t) })
	}
}

// Healthy returns an error, for /readyz, with the names of the tasks whose last run in this process failed, or whose next
// time could not be read. The error does not contain causes, since its text is public; they are in the log. It may be
// called from any goroutine.
func (s *Schedule) Healthy() error {
	var faults []error
	for _, t := range s.tasks {
		if t.runErr.load() != nil || t.dueErr.load() != nil {
			faults = append(faults, fmt.Errorf("%s: failed", t.Name))
		}
	}
	return errors.Join(faults...)
}

// runTask runs a task whenever it is due, until ctx ends. It does not forget a wake-up before the task has run in this process.
func (s *Schedule) runTask(ctx context.Context, t *scheduled) {
	t.activity.set(working, time.Time{})
	defer t.activity.set(ended, time.Time{})
	for woken := false; ctx.Err() == nil; {
		until, ran, err := s.runIfDue(ctx, t, woken)
		if err != nil && ctx.Err() == nil { // a task cancelled by the shutdown has not failed
			s.log.Error("periodic job failed", "task", t.Name, "error", err)
		}
		pending := woken && !ran // for example, because another process was running the task
		woken = s.sleep(ctx, t, until) || pending
	}
}

// sleep waits until a time, for a wake-up or for the end of ctx, and reports whether there was a wake-up.
func (s *Schedule) sleep(ctx context.Context, t *scheduled, until time.Time) (woken bool) {
	timer := s.clock.NewTimer(until.Sub(s.clock.Now()))
	defer timer.Stop()
	if !s.clock.Now().Before(until) {
		return false // the time has passed before the timer was set
	}
	t.activity.set(asleep, until)
	defer t.activity.set(working, time.Time{})
	select {
	case <-timer.C:
	case <-t.Wake.received():
		t.activity.set(working, time.Time{})
		t.Wake.clear()
		return true
	case <-ctx.Done():
	}
	return false
}

// runIfDue runs a task if it is due and no other process runs it. It returns when to check again, and whether it ran
// the task.
func (s *Schedule) runIfDue(ctx context.Context, t *scheduled, woken bool) (until time.Time, ran bool, err error) {
	now := s.clock.Now()
	at, l, err := s.due(ctx, t, now, woken)
	t.dueErr.store(err)
	if err != nil {
		return s.nextRun(t, err), false, err
	}
	// A later time in the row comes from a longer interval in an earlier configuration, or from a clock that was
	// wrong.
	if later := now.Add(t.Every); at.After(later) {
		return later, false, nil
	}
	if at.After(now) {
		return at, false, nil
	}
	ran, err = s.execute(ctx, t, l)
	t.runErr.store(err)
	if err != nil {
		return s.nextRun(t, err), ran, err
	}
	return now, ran, nil // check again to find out when the next run is
}

// due returns when a task is due: now if it was woken, otherwise at the time in its row or the time of Due, whichever is
// earlier, but not before the lease of another process ends. A lease of this process does not count, since it is left over
// from a run whose end could not be stored.
func (s *Schedule) due(ctx context.Context, t *scheduled, now time.Time, woken bool) (at time.Time, l lease, err error) {
	if l, err = s.state(ctx, t, now); err != nil {
		return at, l, err
	}
	at = l.next
	switch {
	case woken:
		at = now
	case t.Due != nil && t.runErr.load() == nil: // a failed task waits for its retry
		due, err := t.Due(ctx)
		if err != nil {
			return at, l, err
		}
		if !due.IsZero() && due.Before(at) {
			at = due
		}
	}
	if l.until.After(at) && db.Micros(l.until) != t.ownLease {
		at = l.until
	}
	return at, l, nil
}

// nextRun returns when a task is run again after a run that returned err. A failed task is run again sooner.
func (s *Schedule) nextRun(t *scheduled, err error) time.Time {
	pause := t.Every
	if err != nil {
		pause = min(pause, scheduleRetry)
	}
	return s.clock.Now().Add(pause)
}

// state returns the row of a task, which it creates the first time. If the schedule is not shared, it returns the time in
// memory.
func (s *Schedule) state(ctx context.Context, t *scheduled, now time.Time) (l lease, err error) {
	if s.db == nil {
		return lease{next: t.next}, nil
	}
	if t.next.IsZero() { // the first time in this process
		if _, err := s.update(ctx, insertSchedule, t.Name, now.UnixMicro()); err != nil {
			return l, err
		}
		t.next = now
	}
	return getLease(ctx, s.db, t.Name)
}

// execute runs a task, under a lease if the schedule is shared. ran is false if the lease could not be claimed.
func (s *Schedule) execute(ctx context.Context, t *scheduled, l lease) (ran bool, err error) {
	if s.db != nil {
		return s.runUnderLease(ctx, t, l)
	}
	err = t.Do(ctx)
	t.next = s.nextRun(t, err)
	return true, err
}
