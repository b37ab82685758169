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
const testTimeout = time.Minute

// fixture is a queue whose jobs the test ends itself.
type fixture struct {
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

func newFixture(t *testing.T, d *db.DB, o job.Options) *fixture {
	o.Kind, o.Logger, o.Grace = "test", slog.New(slog.DiscardHandler), testTimeout
	if o.LaneMax == 0 {
		o.LaneMax, o.Max, o.Lease, o.SingleProcess = 2, 8, time.Minute, true
	}
	f := &fixture{t: t, db: d, clock: clock.NewFake(noon), begun: make(chan begun, 100)}
	f.Queue = job.NewQueue(d, f.clock, o)
	f.run()
	t.Cleanup(func() { f.stop() })
	return f
}

func (f *fixture) run() {
	ctx, cancel := context.WithCancel(f.t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx, f.work) })
	f.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
}

func (f *fixture) work(ctx context.Context, j job.Job) job.Settle {
	b := begun{j, ctx, make(chan job.Settle, 1)}
	f.begun <- b
	select {
	case settle := <-b.settle:
		return settle
	case <-ctx.Done():
		return nil
	case <-f.t.Context().Done(): // the test has ended without ending the job
		return func(context.Context, *db.Tx) (job.Verdict, error) { return job.Done(), nil }
	}
}

func (f *fixture) enqueue(jobs ...job.New) {
	f.t.Helper()
	err := f.db.Update(f.t.Context(), func(ctx context.Context, tx *db.Tx) error { return f.EnqueueTx(ctx, tx, jobs...) })
	if err != nil {
		f.t.Fatal(err)
	}
}

// next returns the next job that is begun.
func (f *fixture) next() begun {
	f.t.Helper()
	select {
	case b := <-f.begun:
		return b
	case <-time.After(testTimeout):
		f.t.Fatalf("no job was begun within %s, want one", testTimeout)
		panic("not reached")
	}
}

// count returns how many rows have a state.
func (f *fixture) count(state int) (n int) {
	f.t.Helper()
	if err := f.db.QueryRow(f.t.Context(), "SELECT count(*) FROM job WHERE state = $1", state).Scan(&n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// waitCount waits until a number of jobs have a state.
func (f *fixture) waitCount(state, want int) {
	f.t.Helper()
	eventually(f.t, fmt.Sprintf("%d jobs of state %d", want, state), func() bool { return f.count(state) == want })
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
func (f *fixture) wantNoJob() {
	f.t.Helper()
	f.enqueue(job.New{Lane: "~probe"})
	b := f.next()
	if b.Lane != "~probe" {
		f.t.Fatalf(`a job of lane %s was begun, want Lane "~probe"`, b.Lane)
	}
	b.end(job.Done())
	f.waitCount(running, 0)
}

func TestJobRunsOnceItsCauseIsCommitted(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{})
		refused := errors.New("refused")
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(f.EnqueueTx(ctx, tx, job.New{Lane: "a", Payload: "never"}), refused)
		})
		if !errors.Is(err, refused) {
			t.Fatalf("Update = %v, want the error %v", err, refused)
		}
		f.enqueue(job.New{Lane: "a", Payload: "one"}, job.New{Lane: "b", Payload: "two"})
		got := make(map[string]string)
		for range 2 {
			b := f.next()
			got[b.Lane] = b.Payload
			if b.Attempt != 1 || !b.CreatedAt.Equal(noon) {
				t.Errorf("f.next() = %+v, want Attempt 1 and CreatedAt %v", b.Job, noon)
			}
			b.end(job.Done())
		}
		if want := map[string]string{"a": "one", "b": "two"}; !maps.Equal(got, want) {
			t.Errorf("the payloads by lane are %v, want %v", got, want)
		}
		f.waitCount(running, 0)
		f.waitCount(ready, 0)
	})
}

func TestManyJobsAreEnqueuedTogether(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{LaneMax: 200, Max: 400, Lease: time.Minute, SingleProcess: true})
		var jobs []job.New
		for i := range 75 { // 64 + 8 + 3
			jobs = append(jobs, job.New{Lane: "a", Payload: fmt.Sprint(i)})
		}
		f.enqueue(jobs...)
		seen := make(map[string]bool)
		for range jobs {
			b := f.next()
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
		f := newFixture(t, d, job.Options{})
		f.enqueue(job.New{Lane: "a"})
		f.next().end(job.Retry(noon.Add(time.Hour)))
		f.waitCount(waiting, 1)
		f.clock.Advance(time.Hour - time.Second)
		f.wantNoJob()
		f.clock.Advance(time.Second)
		b := f.next()
		if b.Attempt != 2 {
			t.Errorf("attempt %d, want Attempt 2", b.Attempt)
		}
		b.end(job.Bury(noon.Add(48 * time.Hour)))
		f.waitCount(dead, 1)
		f.clock.Advance(24 * time.Hour)
		if err := f.Erase(t.Context()); err != nil || f.count(dead) != 1 {
			t.Errorf("Erase before the time = %v, and %d dead letters are left, want 1", err, f.count(dead))
		}
		f.clock.Advance(24 * time.Hour)
		if err := f.Erase(t.Context()); err != nil || f.count(dead) != 0 {
			t.Errorf("Erase = %v, and %d dead letters are left, want none", err, f.count(dead))
		}
	})
}

func TestSlowLaneDelaysNoOther(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{}) // 2 of a lane, 8 in all
		var slow []job.New
		for range 1000 {
			slow = append(slow, job.New{Lane: "slow"})
		}
		f.enqueue(slow...)
		for range 2 {
			if b := f.next(); b.Lane != "slow" {
				t.Fatalf(`lane %s, want Lane "slow"`, b.Lane)
			}
		}
		for i := range 20 {
			lane := fmt.Sprintf("lane-%02d", i)
			f.enqueue(job.New{Lane: lane})
			b := f.next()
			if b.Lane != lane {
				t.Fatalf("lane %s was begun, want %s", b.Lane, lane)
			}
			b.end(job.Done())
		}
	})
}

func TestIdleLanesHaveAShareOfTheirOwn(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{LaneMax: 4, Max: 16, Lease: time.Minute, SingleProcess: true})
		under := make(map[string]int)
		var jobs []job.New
		for i := range 10 {
			for range 10 {
				jobs = append(jobs, job.New{Lane: fmt.Sprintf("lane-%d", i)})
			}
		}
		f.enqueue(jobs...)
		for range 16 {
			under[f.next().Lane]++
		}
		if len(under) != 10 || slices.Max(slices.Collect(maps.Values(under))) > 4 {
			t.Errorf("jobs under way by lane: %v, want all 10 lanes, none with more than 4", under)
		}
		if n := f.count(running); n != 16 {
			t.Errorf("%d jobs are under way, want 16", n)
		}
	})
}

func TestJobOfACrashedProcessIsRunAgain(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		// Its only slot is taken by the job, so the first process cannot claim it a second time.
		crashed := newFixture(t, d, job.Options{LaneMax: 1, Max: 1, Lease: time.Minute, SingleProcess: true})
		crashed.enqueue(job.New{Lane: "a", Payload: "x"})
		left := crashed.next()

		other := newFixture(t, d, job.Options{LaneMax: 2, Max: 8, Lease: time.Minute, Poll: 10 * time.Second})
		other.idle(t)
		other.clock.Advance(time.Minute)
		again := other.next()
		if again.Payload != "x" || again.Attempt != 2 {
			t.Errorf(`other.next() = %+v, want Payload "x" and Attempt 2`, again.Job)
		}
		left.settle <- func(context.Context, *db.Tx) (job.Verdict, error) {
			t.Error("a job whose lease has ended was settled, want its result dropped")
			return job.Done(), nil
		}
		again.end(job.Done())
		other.waitCount(running, 0)
	})
}

// idle fails the test if a poll of the queue begins a job.
func (f *fixture) idle(t *testing.T) {
	t.Helper()
	for range 3 {
		f.clock.Advance(10 * time.Second)
		f.Wake()
	}
	select {
	case b := <-f.begun:
		t.Fatalf("a job of lane %s was begun, want none", b.Lane)
	default:
	}
}

func TestSingleProcessRunsAbandonedJobsAtTheStart(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{LaneMax: 1, Max: 8, Lease: time.Minute, SingleProcess: true}) // has no free slot for it
		f.enqueue(job.New{Lane: "a"})
		f.next()
		second := newFixture(t, d, job.Options{})
		if b := second.next(); b.Attempt != 2 {
			t.Errorf("attempt %d, want Attempt 2", b.Attempt)
		}
	})
}

func TestShutdownWaitsForRunningJobsAndReturnsCancelledOnes(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{})
		f.enqueue(job.New{Lane: "a"})
		b := f.next()
		stopped := make(chan struct{})
		go func() { f.stop(); close(stopped) }()
		b.end(job.Done())
		<-stopped
		f.waitCount(running, 0)

		f.Grace = time.Nanosecond
		f.run()
		f.enqueue(job.New{Lane: "a"})
		f.next()
		f.stop()
		if n := f.count(ready); n != 1 {
			t.Errorf("%d jobs are ready, want 1", n)
		}
		f.run()
		if b := f.next(); b.Attempt != 1 {
			t.Errorf("the attempt that was cut off counts: %d, want Attempt 1", b.Attempt)
		}
	})
}

func TestHeldLanesAreReleasedOrErased(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{})
		day := 24 * time.Hour
		f.enqueue(job.New{Lane: "a", HeldFor: day}, job.New{Lane: "b"}, job.New{Lane: "b"}, job.New{Lane: "b"})
		first, second := f.next(), f.next()
		if _, err := f.HoldLane(t.Context(), "b", day); err != nil {
			t.Fatal(err)
		}
		first.end(job.Hold(noon.Add(day)))
		second.end(job.Done())
		f.waitCount(held, 3)
		if lanes, err := f.HeldLanes(t.Context(), "", 10); err != nil || !slices.Equal(lanes, []string{"a", "b"}) {
			t.Errorf("HeldLanes = %v, %v, want %v", lanes, err, []string{"a", "b"})
		}
		if lanes, err := f.HeldLanes(t.Context(), "a", 10); err != nil || !slices.Equal(lanes, []string{"b"}) {
			t.Errorf("HeldLanes after a = %v, %v, want %v", lanes, err, []string{"b"})
		}
		f.wantNoJob()
		if _, err := f.ReleaseLane(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		f.next().end(job.Done())
		f.next().end(job.Done())
		f.waitCount(running, 0)
		f.clock.Advance(day)
		if err := f.Erase(t.Context()); err != nil || f.count(held) != 0 {
			t.Errorf("Erase = %v, and %d held jobs are left, want none", err, f.count(held))
		}
	})
}

func TestDeletedLaneVoidsItsRunningJobs(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{})
		f.enqueue(job.New{Lane: "a"}, job.New{Lane: "a"}, job.New{Lane: "a"}, job.New{Lane: "a", HeldFor: time.Hour})
		b, c := f.next(), f.next()
		if _, err := f.DeleteLane(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		b.end(job.Retry(noon))
		c.end(job.Hold(noon))
		f.wantNoJob()
		for state := ready; state <= dead; state++ {
			if n := f.count(state); n != 0 {
				t.Errorf("%d jobs of state %d are left, want 0", n, state)
			}
		}
	})
}

func TestPanicAndFailedSettleLeaveTheJobToItsLease(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{})
		f.enqueue(job.New{Lane: "a"})
		for i, settle := range []job.Settle{
			func(context.Context, *db.Tx) (job.Verdict, error) { panic("out of order") },
			func(context.Context, *db.Tx) (job.Verdict, error) { return job.Done(), errors.New("no") },
			nil,
		} {
			b := f.next()
			if b.Attempt != i+1 {
				t.Errorf("attempt %d, want %d", b.Attempt, i+1)
			}
			b.settle <- settle
			f.settleOne()
			f.clock.Advance(time.Minute)
		}
		f.next().end(job.Done())
	})
}

// settleOne waits until the queue has recorded the end of a job, by running another one.
func (f *fixture) settleOne() {
	f.t.Helper()
	f.enqueue(job.New{Lane: "~probe"})
	b := f.next()
	if b.Lane != "~probe" {
		f.t.Fatalf(`a job of lane %s was begun, want Lane "~probe"`, b.Lane)
	}
	b.end(job.Done())
	f.waitCount(running, 1)
}
