package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/job"
)

// controlledTask runs a schedule with one task, each run of which the test ends.
type controlledTask struct {
	*job.Schedule
	db    *db.DB
	begun chan context.Context
	end   chan error
	stop  func()
}

// newControlledTask returns a schedule that is shared by a database, or not shared if that is nil.
func newControlledTask(t *testing.T, d *db.DB, c clock.Clock, task job.Task) *controlledTask {
	s := &controlledTask{db: d, begun: make(chan context.Context), end: make(chan error)}
	task.Name, task.Every = "sweep", time.Hour
	task.Do = func(ctx context.Context) error {
		select {
		case s.begun <- ctx:
			return <-s.end
		case <-ctx.Done(): // the test has ended
			return ctx.Err()
		}
	}
	s.Schedule = job.NewSchedule(c, slog.New(slog.DiscardHandler), task)
	if d != nil {
		s.Share(d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	s.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(s.stop)
	return s
}

func (s *controlledTask) next(t *testing.T) context.Context {
	t.Helper()
	select {
	case ctx := <-s.begun:
		return ctx
	case <-time.After(testTimeout):
		t.Fatalf("the task was not begun within %s, want it begun", testTimeout)
		panic("not reached")
	}
}

// endRun ends a run and waits until a number of timers are set, not counting the one that renews the lease.
func (s *controlledTask) endRun(t *testing.T, c *clock.Fake, fault error, timers int) {
	t.Helper()
	s.end <- fault
	if s.db != nil {
		eventually(t, "the end of the lease", func() bool {
			var leases int
			err := s.db.QueryRow(t.Context(), "SELECT count(*) FROM job_schedule WHERE lease_until <> 0").Scan(&leases)
			return err == nil && leases == 0
		})
	}
	waitTimers(t, c, timers)
}

// waitTimers waits until a number of timers are set.
func waitTimers(t *testing.T, c *clock.Fake, timers int) {
	t.Helper()
	eventually(t, fmt.Sprint(timers, " timers"), func() bool { return c.Waiting() == timers })
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(testTimeout)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain, want %s", testTimeout, what)
		}
		time.Sleep(time.Millisecond)
	}
}

// lease is how long a process holds a task without renewing its lease.
const lease = 8 * time.Second

// waitLease waits until the task's lease ends at a time.
func waitLease(t *testing.T, d *db.DB, until time.Time) {
	t.Helper()
	eventually(t, "the lease", func() bool {
		var end int64
		err := d.QueryRow(t.Context(), "SELECT lease_until FROM job_schedule").Scan(&end)
		return err == nil && end == until.UnixMicro()
	})
}

// If a process dies while it runs a task, another one can run the task within ten seconds, even if several die in turn.
func TestTaskOfADeadProcessIsTakenOver(t *testing.T) {
	const bound = 10 * time.Second
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		now := noon
		var dead []*controlledTask
		for range 3 { // each dies while it runs the task: its clock stands still, so it does not renew its lease
			c := clock.NewFake(now)
			p := newControlledTask(t, d, c, job.Task{})
			if len(dead) > 0 {
				waitTimers(t, c, 1) // until the lease of the dead process ends
				c.Advance(bound)
			}
			p.next(t)
			dead, now = append(dead, p), c.Now()
		}
		for _, p := range dead {
			p.end <- nil
		}
	})
}

// A process that cannot reach the database stops running a task, since another process may run it by then.
func TestTaskIsCancelledWhenItsLeaseCannotBeRenewed(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		a := newControlledTask(t, d, c, job.Task{})
		ctx := a.next(t)
		if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "ALTER TABLE job_schedule RENAME TO away")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			waitTimers(t, c, 1)
			c.Advance(lease / 4)
		}
		waitTimers(t, c, 1)
		if ctx.Err() != nil {
			t.Fatal("the task was canceled while its lease held, want it to run on")
		}
		c.Advance(lease / 4)
		<-ctx.Done()
		a.end <- ctx.Err()
	})
}

func TestTaskIsRunByOneProcessAtATime(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		a := newControlledTask(t, d, c, job.Task{})
		a.next(t)
		b := newControlledTask(t, d, c, job.Task{})
		waitTimers(t, c, 2) // the renewal of a, and b, which waits for the end of the lease
		waitLease(t, d, noon.Add(lease))
		for range 3 { // without renewals the lease would end after the second time
			c.Advance(lease / 2)
			waitLease(t, d, c.Now().Add(lease))
			waitTimers(t, c, 2)
		}
		select {
		case <-b.begun:
			t.Fatal("a second process began the task, want one at a time")
		default:
		}
		a.end <- errors.New("broken")
		eventually(t, "the fault", func() bool { return a.Healthy() != nil })
		if err := b.Healthy(); err != nil {
			t.Error(err)
		}
		waitTimers(t, c, 2)
		a.stop()
		c.Advance(time.Hour)
		b.next(t)
		b.end <- nil
		waitTimers(t, c, 1)
		if err := b.Healthy(); err != nil {
			t.Error(err)
		}
	})
}

func TestTaskThatLostItsLeaseIsCancelled(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		a := newControlledTask(t, d, c, job.Task{})
		ctx := a.next(t)
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE job_schedule SET lease_until = lease_until + 1") // as if another process had claimed it
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		waitTimers(t, c, 1)
		c.Advance(lease / 2)
		<-ctx.Done()
		a.end <- ctx.Err() // another process has the lease
		waitTimers(t, c, 1)
	})
}

func TestWakeDuringARunStartsAnother(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		wake := job.NewSignal()
		a := newControlledTask(t, d, c, job.Task{Wake: wake})
		a.next(t)
		wake.Set() // its cause may have been committed after the task has read
		a.end <- nil
		a.next(t)
		a.endRun(t, c, nil, 1)
		wake.Set()
		a.next(t)
		a.end <- nil
	})
}

// The run of the other process may have read before the cause of the wake-up was committed.
func TestWakeDuringARunOfAnotherProcessStartsAnother(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		a := newControlledTask(t, d, c, job.Task{})
		a.next(t)
		wake := job.NewSignal()
		b := newControlledTask(t, d, c, job.Task{Wake: wake})
		waitTimers(t, c, 2) // the renewal of a, and b until the lease ends
		wake.Set()
		eventually(t, "the wake-up of b", func() bool { return !wake.IsSet() })
		a.end <- nil
		from, every := c.Now(), time.Hour
		eventually(t, "the run of b", func() bool {
			select {
			case <-b.begun:
				return true
			default:
				if a.Working()+b.Working() == 0 { // otherwise the time would pass while a busy machine is at work
					c.Advance(time.Second)
				}
				return false
			}
		})
		if took := c.Now().Sub(from); took >= every {
			t.Errorf("the wake-up was forgotten: b ran after %s, want less than %v", took, every)
		}
		b.end <- nil
	})
}

func TestDueTaskRunsBeforeItsInterval(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		due := make(chan time.Time, 8)
		a := newControlledTask(t, d, c, job.Task{Due: func(context.Context) (time.Time, error) { return <-due, nil }})
		due <- time.Time{}
		for _, next := range []struct{ due, begins time.Duration }{
			{10 * time.Minute, 10 * time.Minute},
			{-1, 70 * time.Minute}, // never: an hour later
			{9 * time.Hour, 130 * time.Minute},
			{131 * time.Minute, 131 * time.Minute},
		} {
			a.next(t)
			at := noon.Add(next.due)
			if next.due < 0 {
				at = time.Time{}
			}
			due <- at // Due is called when the task has run,
			due <- at // and once more when it is due
			a.endRun(t, c, nil, 1)
			begins := noon.Add(next.begins)
			c.Advance(begins.Sub(c.Now()) - time.Microsecond)
			if c.Waiting() == 0 {
				t.Fatalf("the task was run before %s, want it only when it is due", next.begins)
			}
			c.Advance(time.Microsecond)
		}
		a.next(t)
		due <- time.Time{}
		a.endRun(t, c, nil, 1)
	})
}

func TestTaskDueBeforeTheTimerIsSetRuns(t *testing.T) {
	c := clock.NewFake(noon)
	a := newControlledTask(t, nil, c, job.Task{Due: func(context.Context) (time.Time, error) {
		c.Advance(time.Minute) // while Due is running
		return c.Now().Add(-time.Second), nil
	}})
	for range 3 {
		a.next(t)
		a.end <- nil
	}
}

func TestFailedTaskIsRetriedAfterAPause(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		a := newControlledTask(t, d, c, job.Task{Due: func(context.Context) (time.Time, error) { return noon, nil }})
		for range 3 {
			a.next(t)
			a.endRun(t, c, errors.New("broken"), 1)
			c.Advance(2*time.Second - time.Microsecond)
			if c.Waiting() == 0 {
				t.Fatal("the failed task was run before two seconds had passed, want a pause")
			}
			c.Advance(time.Microsecond)
		}
	})
}

func TestTaskOfOneProcessNeedsNoDatabase(t *testing.T) {
	c := clock.NewFake(noon)
	a, b := newControlledTask(t, nil, c, job.Task{}), newControlledTask(t, nil, c, job.Task{})
	a.next(t)
	b.next(t)
	a.end <- nil
	b.end <- errors.New("broken")
	waitTimers(t, c, 2)
	if a.Healthy() != nil || b.Healthy() == nil {
		t.Errorf("Healthy() = %v and %v, want nil for the task that succeeded and an error for the other", a.Healthy(), b.Healthy())
	}
	c.Advance(5 * time.Second)
	b.next(t)
	b.end <- nil
	waitTimers(t, c, 2)
	if err := b.Healthy(); err != nil {
		t.Error(err)
	}
}

// A process that could not end its lease, because the database was unavailable, does not have to wait for its end.
func TestLeaseThatCouldNotBeEndedDoesNotDelayTheTask(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		a := newControlledTask(t, d, c, job.Task{})
		a.next(t)
		rename := func(from, to string) {
			t.Helper()
			if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, "ALTER TABLE "+from+" RENAME TO "+to)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		rename("job_schedule", "away")
		a.end <- nil
		eventually(t, "the fault", func() bool { return a.Healthy() != nil })
		waitTimers(t, c, 1)
		rename("away", "job_schedule")
		c.Advance(5 * time.Second)
		a.next(t)
		a.end <- nil
		eventually(t, "recovery", func() bool { return a.Healthy() == nil })

		waitTimers(t, c, 1)
		rename("job_schedule", "away")
		c.Advance(time.Hour)
		eventually(t, "the fault", func() bool { return a.Healthy() != nil })
		waitTimers(t, c, 1)
		rename("away", "job_schedule")
		if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE job_schedule SET next_at = next_at + 3600000000") // as if another process had run it meanwhile
			return err
		}); err != nil {
			t.Fatal(err)
		}
		c.Advance(5 * time.Second)
		eventually(t, "sight", func() bool { return a.Healthy() == nil })
		waitTimers(t, c, 1)
	})
}
