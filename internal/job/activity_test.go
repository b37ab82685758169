package job_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/job"
)

// A task whose time has come, or that a signal has woken, works already before its goroutine runs.
func TestScheduleReportsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, wake := clock.NewFake(noon), job.NewSignal()
		begun, end := make(chan struct{}), make(chan struct{})
		s := job.NewSchedule(c, slog.New(slog.DiscardHandler), job.Task{Name: "task", Every: time.Minute, Wake: wake, Do: func(context.Context) error {
			begun <- struct{}{}
			<-end
			return nil
		}})
		want := func(when string, n int) {
			t.Helper()
			if got := s.Working(); got != n {
				t.Errorf("Working() %s = %d, want %d", when, got, n)
			}
		}
		want("before Run", 0)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.Run(ctx) })
		run := func(cause string) {
			t.Helper()
			want("after "+cause, 1)
			<-begun
			want("during the run after "+cause, 1)
			end <- struct{}{}
			synctest.Wait()
			want("after the run after "+cause, 0)
		}
		synctest.Wait()
		run("the start")
		c.Advance(time.Minute)
		run("a minute")
		wake.Set()
		run("a signal")
		cancel()
		running.Wait()
		c.Advance(time.Hour)
		want("after the end", 0)
	})
}

func TestQueueReportsWork(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		q := job.NewQueue(d, c, job.Options{Kind: "test", LaneMax: 1, Max: 1, Lease: time.Minute, Poll: time.Minute, Grace: time.Minute})
		begun := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			q.Run(ctx, func(context.Context, job.Job) job.Settle {
				begun <- struct{}{}
				return func(context.Context, *db.Tx) (job.Verdict, error) { return job.Done(), nil }
			})
		})
		defer running.Wait()
		defer cancel()
		idle := func() bool { return !q.Working() }
		waitTimers(t, c, 1)
		eventually(t, "a queue at rest", idle)
		if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return q.EnqueueTx(ctx, tx, job.New{Lane: "a"})
		}); err != nil {
			t.Fatalf("enqueue a job: %v", err)
		}
		<-begun
		eventually(t, "a queue at rest after its job", idle)
		c.Advance(time.Minute)
		eventually(t, "a queue at rest after a poll", func() bool { return idle() && c.Waiting() == 1 })
	})
}
