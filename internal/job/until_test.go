package job_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/job"
)

// lateClock moves on by the time of the first timer of a minute just before that is set.
type lateClock struct {
	*clock.Fake
	moved atomic.Bool
}

func (c *lateClock) NewTimer(d time.Duration) *clock.Timer {
	if d == time.Minute && !c.moved.Swap(true) {
		c.Advance(d)
	}
	return c.Fake.NewTimer(d)
}

func TestJobDueBeforeTheTimerIsSetRuns(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := &lateClock{Fake: clock.NewFake(noon)}
		q := job.NewQueue(d, c, job.Options{Kind: "test", LaneMax: 1, Max: 1, Lease: time.Hour, SingleProcess: true, Grace: testTimeout})
		if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return q.EnqueueTx(ctx, tx, job.New{Lane: "a"})
		}); err != nil {
			t.Fatalf("enqueue a job: %v", err)
		}
		again := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			q.Run(ctx, func(_ context.Context, j job.Job) job.Settle {
				if j.Attempt == 2 {
					close(again)
				}
				return func(context.Context, *db.Tx) (job.Verdict, error) {
					if j.Attempt == 2 {
						return job.Done(), nil
					}
					return job.Retry(noon.Add(time.Minute)), nil
				}
			})
		})
		defer running.Wait()
		defer cancel()
		select {
		case <-again:
		case <-time.After(testTimeout):
			t.Errorf("a job whose retry was due when the queue set its timer was not begun within %s, want it begun", testTimeout)
		}
	})
}
