package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// testTimeout is how long a test waits before it fails. No result depends on it.
const testTimeout = 30 * time.Second

// world is a queue whose jobs the test ends itself.
type world struct {
	*job.Queue
	t     *testing.T
	db    *db.DB
	clock *clock.Fake
	begun chan begun
	stop  func()
}

// begun is a running job, whose outcome the test chooses.
type begun struct {
	job.Job
	ctx    context.Context
	settle chan job.Settle
}

func (b begun) end(v job.Verdict) {
	b.settle <- func(context.Context, *db.Tx) (job.Verdict, error) { return v, nil }
}

func newWorld(t *testing.T, d *db.DB, o job.Options) *world {
	o.Kind, o.Logger, o.Grace = "test", slog.New(slog.DiscardHandler), testTimeout
	if o.LaneMax == 0 {
		o.LaneMax, o.Max, o.Lease, o.SingleProcess = 2, 8, time.Minute, true
	}
	w := &world{t: t, db: d, clock: clock.NewFake(noon), begun: make(chan begun, 100)}
	w.Queue = job.NewQueue(d, w.clock, o)
	w.run()
	t.Cleanup(func() { w.stop() })
	return w
}

func (w *world) run() {
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx, w.work) })
	w.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
}

func (w *world) work(ctx context.Context, j job.Job) job.Settle {
	b := begun{j, ctx, make(chan job.Settle, 1)}
	w.begun <- b
	select {
	case settle := <-b.settle:
		return settle
	case <-ctx.Done():
		return nil
	case <-w.t.Context().Done(): // the test has ended without ending the job
		return func(context.Context, *db.Tx) (job.Verdict, error) { return job.Done(), nil }
	}
}

func (w *world) enqueue(jobs ...job.New) {
	w.t.Helper()
	err := w.db.Update(w.t.Context(), func(ctx context.Context, tx *db.Tx) error { return w.EnqueueTx(ctx, tx, jobs...) })
	if err != nil {
		w.t.Fatal(err)
	}
}

// next returns the next job that is begun.
func (w *world) next() begun {
	w.t.Helper()
	select {
	case b := <-w.begun:
		return b
	case <-time.After(testTimeout):
		w.t.Fatal("no job was begun")
		panic("not reached")
	}
}

// count returns how many rows have a state.
func (w *world) count(state int) (n int) {
	w.t.Helper()
	if err := w.db.QueryRow(w.t.Context(), "SELECT count(*) FROM job WHERE state = $1", state).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// waitCount waits until a number of jobs have a state.
func (w *world) waitCount(state, want int) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("%d jobs of state %d", want, state), func() bool { return w.count(state) == want })
}

// States of rows.
const (
	ready   = 0
	waiting = 1
	running = 2
	held    = 3
	dead    = 4
)

// wantNoJob fails the test if a job was begun. It first runs a job of another lane: every job that could be begun before that one has
// been begun then.
func (w *world) wantNoJob() {
	w.t.Helper()
	w.enqueue(job.New{Lane: "~probe"})
	b := w.next()
	if b.Lane != "~probe" {
		w.t.Fatalf("a job of lane %s was begun", b.Lane)
	}
	b.end(job.Done())
	w.waitCount(running, 0)
}

func TestJobRunsOnceItsCauseIsCommitted(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{})
		refused := errors.New("refused")
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(w.EnqueueTx(ctx, tx, job.New{Lane: "a", Payload: "never"}), refused)
		})
		if !errors.Is(err, refused) {
			t.Fatal(err)
		}
		w.enqueue(job.New{Lane: "a", Payload: "one"}, job.New{Lane: "b", Payload: "two"})
		got := make(map[string]string)
		for range 2 {
			b := w.next()
			got[b.Lane] = b.Payload
			if b.Attempt != 1 || !b.CreatedAt.Equal(noon) {
				t.Errorf("%+v", b.Job)
			}
			b.end(job.Done())
		}
		if want := map[string]string{"a": "one", "b": "two"}; !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		w.waitCount(running, 0)
		w.waitCount(ready, 0)
	})
}

func TestManyJobsAreEnqueuedTogether(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{LaneMax: 200, Max: 400, Lease: time.Minute, SingleProcess: true})
		var jobs []job.New
		for i := range 75 { // 64 + 8 + 3
			jobs = append(jobs, job.New{Lane: "a", Payload: fmt.Sprint(i)})
		}
		w.enqueue(jobs...)
		seen := make(map[string]bool)
		for range jobs {
			b := w.next()
			seen[b.Payload] = true
			b.end(job.Done())
		}
		if len(seen) != len(jobs) {
			t.Errorf("%d different jobs, want %d", len(seen), len(jobs))
		}
	})
}

func TestRetryRunsAtItsTime(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{})
		w.enqueue(job.New{Lane: "a"})
		w.next().end(job.Retry(noon.Add(time.Hour)))
		w.waitCount(waiting, 1)
		w.clock.Advance(time.Hour - time.Second)
		w.wantNoJob()
		w.clock.Advance(time.Second)
		b := w.next()
		if b.Attempt != 2 {
			t.Errorf("attempt %d", b.Attempt)
		}
		b.end(job.Bury(noon.Add(48 * time.Hour)))
		w.waitCount(dead, 1)
		w.clock.Advance(24 * time.Hour)
		if err := w.Erase(t.Context()); err != nil || w.count(dead) != 1 {
			t.Errorf("Erase = %v, %d dead letters are left", err, w.count(dead))
		}
		w.clock.Advance(24 * time.Hour)
		if err := w.Erase(t.Context()); err != nil || w.count(dead) != 0 {
			t.Errorf("Erase = %v, %d dead letters are left", err, w.count(dead))
		}
	})
}

func TestSlowLaneDelaysNoOther(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{}) // 2 of a lane, 8 in all
		var slow []job.New
		for range 1000 {
			slow = append(slow, job.New{Lane: "slow"})
		}
		w.enqueue(slow...)
		for range 2 {
			if b := w.next(); b.Lane != "slow" {
				t.Fatalf("lane %s", b.Lane)
			}
		}
		for i := range 20 {
			lane := fmt.Sprintf("lane-%02d", i)
			w.enqueue(job.New{Lane: lane})
			b := w.next()
			if b.Lane != lane {
				t.Fatalf("lane %s was begun, want %s", b.Lane, lane)
			}
			b.end(job.Done())
		}
	})
}

func TestIdleLanesHaveAShareOfTheirOwn(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{LaneMax: 4, Max: 16, Lease: time.Minute, SingleProcess: true})
		under := make(map[string]int)
		var jobs []job.New
		for i := range 10 {
			for range 10 {
				jobs = append(jobs, job.New{Lane: fmt.Sprintf("lane-%d", i)})
			}
		}
		w.enqueue(jobs...)
		for range 16 {
			under[w.next().Lane]++
		}
		if len(under) != 10 || slices.Max(slices.Collect(maps.Values(under))) > 4 {
			t.Errorf("jobs under way by lane: %v", under)
		}
		if n := w.count(running); n != 16 {
			t.Errorf("%d jobs are under way", n)
		}
	})
}

func TestJobOfACrashedProcessIsRunAgain(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		// Its only slot is taken by the job, so the first process cannot claim it a second time.
		crashed := newWorld(t, d, job.Options{LaneMax: 1, Max: 1, Lease: time.Minute, SingleProcess: true})
		crashed.enqueue(job.New{Lane: "a", Payload: "x"})
		left := crashed.next()

		other := newWorld(t, d, job.Options{LaneMax: 2, Max: 8, Lease: time.Minute, Poll: 10 * time.Second})
		other.idle(t)
		other.clock.Advance(time.Minute)
		again := other.next()
		if again.Payload != "x" || again.Attempt != 2 {
			t.Errorf("%+v", again.Job)
		}
		left.settle <- func(context.Context, *db.Tx) (job.Verdict, error) {
			t.Error("a holding whose lease has ended was settled")
			return job.Done(), nil
		}
		again.end(job.Done())
		other.waitCount(running, 0)
	})
}

// idle fails the test if a poll of the queue begins a job.
func (w *world) idle(t *testing.T) {
	t.Helper()
	for range 3 {
		w.clock.Advance(10 * time.Second)
		w.Wake()
	}
	select {
	case b := <-w.begun:
		t.Fatalf("a job of lane %s was begun", b.Lane)
	default:
	}
}

func TestSingleProcessRunsAbandonedJobsAtTheStart(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{LaneMax: 1, Max: 8, Lease: time.Minute, SingleProcess: true}) // has no free slot for it
		w.enqueue(job.New{Lane: "a"})
		w.next()
		second := newWorld(t, d, job.Options{})
		if b := second.next(); b.Attempt != 2 {
			t.Errorf("attempt %d", b.Attempt)
		}
	})
}

func TestShutdownWaitsForRunningJobsAndReturnsCancelledOnes(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{})
		w.enqueue(job.New{Lane: "a"})
		b := w.next()
		stopped := make(chan struct{})
		go func() { w.stop(); close(stopped) }()
		b.end(job.Done())
		<-stopped
		w.waitCount(running, 0)

		w.Grace = time.Nanosecond
		w.run()
		w.enqueue(job.New{Lane: "a"})
		w.next()
		w.stop()
		if n := w.count(ready); n != 1 {
			t.Errorf("%d jobs are ready", n)
		}
		w.run()
		if b := w.next(); b.Attempt != 1 {
			t.Errorf("the attempt that was cut off counts: %d", b.Attempt)
		}
	})
}

func TestHeldLanesAreReleasedOrErased(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{})
		day := 24 * time.Hour
		w.enqueue(job.New{Lane: "a", HeldFor: day}, job.New{Lane: "b"}, job.New{Lane: "b"}, job.New{Lane: "b"})
		first, second := w.next(), w.next()
		if _, err := w.HoldLane(t.Context(), "b", day); err != nil {
			t.Fatal(err)
		}
		first.end(job.Hold(noon.Add(day)))
		second.end(job.Done())
		w.waitCount(held, 3)
		if lanes, err := w.HeldLanes(t.Context(), "", 10); err != nil || !slices.Equal(lanes, []string{"a", "b"}) {
			t.Errorf("HeldLanes = %v, %v", lanes, err)
		}
		if lanes, err := w.HeldLanes(t.Context(), "a", 10); err != nil || !slices.Equal(lanes, []string{"b"}) {
			t.Errorf("HeldLanes after a = %v, %v", lanes, err)
		}
		w.wantNoJob()
		if _, err := w.ReleaseLane(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		w.next().end(job.Done())
		w.next().end(job.Done())
		w.waitCount(running, 0)
		w.clock.Advance(day)
		if err := w.Erase(t.Context()); err != nil || w.count(held) != 0 {
			t.Errorf("Erase = %v, %d are held", err, w.count(held))
		}
	})
}

func TestDeletedLaneVoidsItsRunningJobs(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{})
		w.enqueue(job.New{Lane: "a"}, job.New{Lane: "a"}, job.New{Lane: "a"}, job.New{Lane: "a", HeldFor: time.Hour})
		b, c := w.next(), w.next()
		if _, err := w.DeleteLane(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		b.end(job.Retry(noon))
		c.end(job.Hold(noon))
		w.wantNoJob()
		for state := ready; state <= dead; state++ {
			if n := w.count(state); n != 0 {
				t.Errorf("%d jobs of state %d are left", n, state)
			}
		}
	})
}

func TestPanicAndFailedSettleLeaveTheJobToItsLease(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, job.Options{})
		w.enqueue(job.New{Lane: "a"})
		for i, settle := range []job.Settle{
			func(context.Context, *db.Tx) (job.Verdict, error) { panic("out of order") },
			func(context.Context, *db.Tx) (job.Verdict, error) { return job.Done(), errors.New("no") },
			nil,
		} {
			b := w.next()
			if b.Attempt != i+1 {
				t.Errorf("attempt %d, want %d", b.Attempt, i+1)
			}
			b.settle <- settle
			w.settleOne()
			w.clock.Advance(time.Minute)
		}
		w.next().end(job.Done())
	})
}

// settleOne waits until the queue has recorded the end of a job, by running another one.
func (w *world) settleOne() {
	w.t.Helper()
	w.enqueue(job.New{Lane: "~probe"})
	b := w.next()
	if b.Lane != "~probe" {
		w.t.Fatalf("a job of lane %s was begun", b.Lane)
	}
	b.end(job.Done())
	w.waitCount(running, 1)
}
