package job

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	promoteBatch = 500         // jobs that one update changes, so that it occupies the writer for a few milliseconds
	retryPoll    = time.Second // after polling failed
)

// run is the state of Run, and belongs to its goroutine. The goroutines of jobs only send to releases.
type run struct {
	*Queue
	work     Work
	lanes    map[string]int   // number of jobs whose Work is running, by lane; lanes without one are removed
	total    int              // number of jobs that are running or being settled; at most Max
	cursor   string           // the lane that was served last; the next round begins after it
	releases chan slotRelease // has capacity for two elements for each of Max jobs, so that sending never blocks
	running  sync.WaitGroup   // the goroutines of jobs
}

// slotRelease is sent twice for each job: when its Work has returned, which frees its slot in the lane, and when it is settled,
// which frees its slot in the process. The lane does not have to wait for the commit, which several jobs share.
type slotRelease struct {
	lane    string
	settled bool
}

// Run runs jobs until ctx ends. It then waits for running jobs for at most Grace, cancels the context of the remaining
// ones, and returns when all have ended. A cancelled job that returns a nil Settle is ready again as if it had not been
// claimed. After an error of the database, Run logs it and polls again after a second. Run must not be called while
// another call is running.
func (q *Queue) Run(ctx context.Context, work Work) {
	r := &run{Queue: q, work: work, lanes: make(map[string]int), releases: make(chan slotRelease, 2*q.Max)}
	// Jobs have their own context, since they may continue when ctx has ended.
	jobCtx, cancelJobs := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelJobs()
	// An error is not fatal, since these jobs become ready when their leases end, too.
	if q.SingleProcess {
		q.pollErr.store(q.requeueExpired(ctx, maxTime))
	}
	q.activity.set(working, time.Time{})
	for ctx.Err() == nil {
		until, err := r.round(ctx, jobCtx)
		if err != nil && ctx.Err() == nil {
			q.Logger.Error("polling the job queue failed", "kind", q.Kind, "error", err)
			until = q.clock.Now().Add(retryPoll)
		}
		q.pollErr.store(err)
		r.sleep(ctx, until)
	}
	q.activity.set(ended, time.Time{})
	grace, end := context.WithTimeout(context.WithoutCancel(ctx), q.Grace)
	defer end()
	defer context.AfterFunc(grace, cancelJobs)()
	r.running.Wait()
}

// sleep waits for a wake-up, for a slot to be released, or until a time, unless that is zero. It frees the released slots.
func (r *run) sleep(ctx context.Context, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := r.clock.NewTimer(until.Sub(r.clock.Now()))
		defer timer.Stop()
		due = timer.C
	}
	// The time may have passed before the timer was set, by a clock that a test moves.
	if until.IsZero() || r.clock.Now().Before(until) {
		r.await(ctx, until, due)
	}
	for { // free all slots that are released by now, before the next round
		select {
		case s := <-r.releases:
			r.release(s)
		default:
			return
		}
	}
}

// await waits for the channel due, for a wake-up, or for a slot to be released.
func (r *run) await(ctx context.Context, until time.Time, due <-chan time.Time) {
	r.activity.set(asleep, until)
	defer r.activity.set(working, time.Time{})
	select {
	case <-r.wakeup.received():
		r.activity.set(working, time.Time{})
		r.wakeup.clear()
	case <-due:
	case s := <-r.releases:
		r.activity.set(working, time.Time{})
		r.release(s)
	case <-ctx.Done():
	}
}

// release frees the slot in the lane or in the process.
func (r *run) release(s slotRelease) {
	r.unread.Add(-1)
	if s.settled {
		r.total--
		return
	}
	if r.lanes[s.lane]--; r.lanes[s.lane] == 0 {
		delete(r.lanes, s.lane)
	}
}

// round makes due jobs ready, starts as many as the limits allow, and returns the time of the next round. A zero time
// means that the next round is not needed before a wake-up or the end of a job: no other process can enqueue jobs, and no
// job waits for a time.
func (r *run) round(ctx, jobCtx context.Context) (until time.Time, err error) {
	if until, err = r.promote(ctx); err != nil {
		return until, err
	}
	for {
		jobs, err := r.claim(ctx)
		if err != nil {
			return until, err
		}
		if len(jobs) == 0 {
			break
		}
		for _, j := range jobs {
			r.start(jobCtx, j)
		}
	}
	if r.SingleProcess {
		return until, nil
	}
	if poll := r.clock.Now().Add(r.Poll); until.IsZero() || poll.Before(until) {
		until = poll
	}
	return until, nil
}

// promote makes jobs ready that are waiting and due, or running under a lease that has ended. It returns when the next job
// will be due in one of these ways, or the zero time if there is none.
func (r *run) promote(ctx context.Context) (next time.Time, err error) {
	for {
		waiting, lease, err := nextDue(ctx, r.db, r.Kind)
		if err != nil {
			return next, err
		}
		now := r.clock.Now()
		isDue := func(at time.Time) bool { return !at.IsZero() && !at.After(now) }
		if !isDue(waiting) && !isDue(lease) {
			if waiting.IsZero() || !lease.IsZero() && lease.Before(waiting) {
				return lease, nil
			}
			return waiting, nil
		}
		if isDue(waiting) {
			err = r.updateAll(ctx, promoteBatch, promoteJobs, r.Kind, now.UnixMicro())
		}
		if err == nil && isDue(lease) {
			err = r.requeueExpired(ctx, now.UnixMicro())
		}
		if err != nil {
			return next, err
		}
	}
}

// maxTime is later than the end of every lease, in microseconds since 1970.
const maxTime int64 = 1 << 62

// requeueExpired makes running jobs ready whose leases ended by a time in microseconds since 1970. The process that ran
// them has crashed, or their outcome could not be committed. If such a job is still running after all, its outcome will
// have no effect.
func (q *Queue) requeueExpired(ctx context.Context, by int64) error {
	return q.updateAll(ctx, promoteBatch, requeueJobs, q.Kind, by, q.clock.Now().UnixMicro())
}

// updateAll repeats a statement that changes at most batch rows, until it changes fewer. batch is passed as its last argument.
// Each execution is a transaction of its own.
func (q *Queue) updateAll(ctx context.Context, batch int64, query string, args ...any) error {
	for {
		n, err := q.updateOnce(ctx, batch, query, args...)
		if err != nil || n < batch {
			return err
		}
	}
}

// updateOnce executes such a statement once, in a transaction, and returns the number of rows that it changed.
func (q *Queue) updateOnce(ctx context.Context, batch int64, query string, args ...any) (n int64, err error) {
	args = append(args, batch)
	err = q.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = tx.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

// start runs a claimed job on a goroutine, which ends when the job is settled or could not be. jobCtx is cancelled when the
// grace period of a shutdown is over.
func (r *run) start(jobCtx context.Context, j Job) {
	r.lanes[j.Lane]++
	r.total++
	r.running.Go(func() {
		settle, err := r.try(jobCtx, j)
		r.free(slotRelease{lane: j.Lane})
		if err == nil {
			err = r.settle(jobCtx, j, settle)
		}
		if err != nil {
			r.Logger.Error("job failed, it will be run again when its lease ends", "kind", r.Kind, "job", j.ID, "attempt", j.Attempt, "error", err)
		}
		r.free(slotRelease{settled: true})
	})
}

// free sends a release to the goroutine of Run. It does not block: the channel has capacity for every job.
func (r *run) free(s slotRelease) {
	r.unread.Add(1)
	r.releases <- s
}

// try runs a job and turns a panic into an error, so that a bug in one job does not end the process with all others.
func (r *run) try(jobCtx context.Context, j Job) (settle Settle, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return r.work(jobCtx, j), nil
}

// settle ends the lease of a job with the outcome that the function settle returns. A shutdown does not cancel it: the
// effect of the job has happened, and without its outcome the job would be run again.
func (r *run) settle(jobCtx context.Context, j Job, settle Settle) error {
	if settle == nil && jobCtx.Err() == nil {
		return nil // it is run again when its lease has ended
	}
	return r.db.UpdateLocked(context.WithoutCancel(jobCtx), func(ctx context.Context, tx *db.Tx) error {
		if settle == nil {
			// Cancelled by the shutdown: the attempt does not count.
			_, err := tx.Exec(ctx, returnJob, j.ID, j.lease, r.clock.Now().UnixMicro())
			return err
		}
		holds, err := holdsLeaseTx(ctx, tx, j)
		if err != nil || !holds {
			return err // the lease has ended, or the job was deleted, so the outcome has no effect
		}
		v, err := settle(ctx, tx)
		if err != nil {
			return err
		}
		return v.applyTx(ctx, tx, j)
	}, nil)
}

// applyTx stores the outcome of a job, which holdsLeaseTx has locked.
func (v Verdict) applyTx(ctx context.Context, tx *db.Tx, j Job) error {
	query, args := updateState, []any{j.ID, v.state, v.at.UnixMicro()}
	if v.state == done {
		query, args = deleteJob, args[:1]
	}
	_, err := tx.Exec(ctx, query, args...)
	return err
}
