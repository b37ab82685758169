package job_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/job"
)

// turns runs a schedule with one task, whose every turn the test ends.
type turns struct {
	*job.Schedule
	begun chan context.Context
	end   chan error
	stop  func()
}

func newTurns(t *testing.T, d *db.DB, c clock.Clock, sole bool) *turns {
	s := &turns{begun: make(chan context.Context), end: make(chan error)}
	s.Schedule = job.NewSchedule(d, c, slog.New(slog.DiscardHandler), sole, job.Task{Name: "sweep", Every: time.Hour, Do: func(ctx context.Context) error {
		s.begun <- ctx
		return <-s.end
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	s.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(s.stop)
	return s
}

func (s *turns) next(t *testing.T) context.Context {
	t.Helper()
	select {
	case ctx := <-s.begun:
		return ctx
	case <-time.After(patience):
		t.Fatal("the task was not begun")
		panic("not reached")
	}
}

// asleep waits until so many timers wait to be fired.
func asleep(t *testing.T, c *clock.Fake, timers int) {
	t.Helper()
	comesAbout(t, "sleep", func() bool { return c.Waiting() == timers })
}

func comesAbout(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestATaskIsDoneByOneProcessAtATime(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		a := newTurns(t, d, c, false)
		a.next(t)
		b := newTurns(t, d, c, false)
		asleep(t, c, 2) // a's renewal, and b, who waits for the lease to end
		c.Advance(30 * time.Second)
		asleep(t, c, 2)
		c.Advance(40 * time.Second) // the lease would be over, had it not been renewed
		asleep(t, c, 2)
		select {
		case <-b.begun:
			t.Fatal("two processes do the task")
		default:
		}
		a.end <- errors.New("broken")
		comesAbout(t, "the fault", func() bool { return a.Healthy() != nil })
		if err := b.Healthy(); err != nil {
			t.Error(err)
		}
		asleep(t, c, 2)
		a.stop()
		c.Advance(time.Hour)
		b.next(t)
		b.end <- nil
		asleep(t, c, 1)
		if err := b.Healthy(); err != nil {
			t.Error(err)
		}
	})
}

func TestATaskThatLostItsLeaseIsCutOff(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		a := newTurns(t, d, c, false)
		ctx := a.next(t)
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE job_schedule SET lease_until = lease_until + 1") // as if another had taken it
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		asleep(t, c, 1)
		c.Advance(30 * time.Second)
		<-ctx.Done()
		a.end <- ctx.Err()
		asleep(t, c, 1)
	})
}

func TestASoleProcessTakesItsTaskUpAtOnce(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		a := newTurns(t, d, c, true)
		a.next(t)
		b := newTurns(t, d, c, true)
		b.next(t)
		b.end <- nil
		a.end <- nil
	})
}
