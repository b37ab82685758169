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

// Task is what has to be done now and then, by one process at a time however many share the database.
type Task struct {
	Name  string        // identifies it in the database
	Every time.Duration // from the end of one time to the beginning of the next
	Do    func(context.Context) error
}

// scheduleLease is how long a process that died keeps others from a task. One that lives renews it.
const scheduleLease = time.Minute

// Schedule does tasks, each on its own goroutine, so that a slow one keeps none of the others waiting.
type Schedule struct {
	db    *db.DB
	clock clock.Clock
	log   *slog.Logger
	sole  bool
	tasks []*scheduled
}

type scheduled struct {
	Task
	fault faultBox // of the last time
}

// NewSchedule makes a schedule. sole says that no other process works on the database: then what was under way at the
// start is done again at once.
func NewSchedule(d *db.DB, c clock.Clock, log *slog.Logger, sole bool, tasks ...Task) *Schedule {
	s := &Schedule{db: d, clock: c, log: log, sole: sole}
	for _, t := range tasks {
		s.tasks = append(s.tasks, &scheduled{Task: t})
	}
	return s
}

// Run does the tasks until ctx ends, and returns when the last of them has. A task that is new to the database is done at
// once, one that failed is done again after the usual time.
func (s *Schedule) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, t := range s.tasks {
		all.Go(func() { s.follow(ctx, t) })
	}
}

// Healthy is how the tasks failed the last time, or nil.
func (s *Schedule) Healthy() error {
	var faults []error
	for _, t := range s.tasks {
		faults = append(faults, t.fault.load())
	}
	return errors.Join(faults...)
}

func (s *Schedule) follow(ctx context.Context, t *scheduled) {
	for first := true; ctx.Err() == nil; first = false {
		wait, err := s.turn(ctx, t, first)
		if err != nil && ctx.Err() == nil { // what the stop cuts off has not failed
			s.log.Error("a scheduled task failed", "task", t.Name, "error", err)
			t.fault.store(fmt.Errorf("%s: %w", t.Name, err))
		}
		timer := s.clock.NewTimer(min(wait, t.Every))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// turn does a task if its time has come and nobody else does it, and returns when to look again.
func (s *Schedule) turn(ctx context.Context, t *scheduled, first bool) (wait time.Duration, err error) {
	now := s.clock.Now()
	if first {
		if err := s.enter(ctx, t, now); err != nil {
			return t.Every, err
		}
	}
	next, lease, err := scheduleOf(ctx, s.db, t.Name)
	if err != nil {
		return t.Every, err
	}
	if due := moment(max(next, lease)); due.After(now) {
		return due.Sub(now), nil
	}
	until := now.Add(scheduleLease).UnixMicro()
	claimed, err := s.update(ctx, claimSchedule, t.Name, now.UnixMicro(), until)
	if err != nil || !claimed {
		return t.Every, err
	}
	return t.Every, s.do(ctx, t, until)
}

// enter makes the task's row, and takes it from a process that cannot be there any more.
func (s *Schedule) enter(ctx context.Context, t *scheduled, now time.Time) error {
	_, err := s.update(ctx, insertSchedule, t.Name, now.UnixMicro())
	if err == nil && s.sole {
		_, err = s.update(ctx, freeSchedule, t.Name)
	}
	return err
}

// do does a claimed task, renewing the claim while it lasts.
func (s *Schedule) do(ctx context.Context, t *scheduled, lease int64) error {
	ctx, lost := context.WithCancel(ctx)
	defer lost()
	var renewing sync.WaitGroup
	renewed := make(chan int64, 1)
	stop := make(chan struct{})
	renewing.Go(func() { renewed <- s.renew(ctx, t, lease, stop, lost) })
	err := t.Do(ctx)
	close(stop)
	renewing.Wait()
	next := s.clock.Now().Add(t.Every).UnixMicro()
	_, ended := s.update(context.WithoutCancel(ctx), endSchedule, t.Name, <-renewed, next)
	if err = errors.Join(err, ended); err == nil {
		t.fault.store(nil)
	}
	return err
}

// renew moves the end of a claim on until stop is closed, and returns it. Where the claim is another's, lost is called.
func (s *Schedule) renew(ctx context.Context, t *scheduled, lease int64, stop <-chan struct{}, lost func()) int64 {
	for {
		timer := s.clock.NewTimer(scheduleLease / 3)
		select {
		case <-timer.C:
		case <-stop:
			timer.Stop()
			return lease
		}
		until := s.clock.Now().Add(scheduleLease).UnixMicro()
		switch kept, err := s.update(context.WithoutCancel(ctx), renewSchedule, t.Name, lease, until); {
		case err != nil: // it is tried again before the lease ends
		case kept:
			lease = until
		default:
			lost()
		}
	}
}

// update runs a statement on a task's row and tells whether it touched it.
func (s *Schedule) update(ctx context.Context, query string, args ...any) (touched bool, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, query, args...)
		touched = n > 0
		return err
	})
	return touched, err
}
