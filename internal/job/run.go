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
	promoteBatch  = 500         // jobs that one update changes, so that it occupies the writer for a few milliseconds
	lanesPerClaim = 64          // lanes of which one transaction claims jobs: each lane is a statement
	retryPoll     = time.Second // after polling failed
)

// run is the state of Run, and belongs to its goroutine; the goroutines of jobs send to releases and do not access
// anything else.
type run struct {
	*Queue
	work     Work
	lanes    map[string]int   // jobs whose work is running, by lane; lanes without one are removed
	total    int              // running jobs and those that are being settled; at most Max
	cursor   string           // the lane that was served last; the next round begins after it
	releases chan slotRelease // has capacity for both releases of Max jobs, so that sending never blocks
	running  sync.WaitGroup   // the goroutines of jobs
}

// slotRelease is sent by a job twice: when its work is done, which frees its slot in the lane, and when it is settled, which
// frees its slot in the process. A lane need not wait for the commit, which several jobs share.
type slotRelease struct {
	lane    string
	settled bool
}

// Run runs jobs until ctx ends. It then waits up to Grace for running jobs, cancels the context of those that are
// left, and returns when they have: jobs that return a nil Settle then are ready again as if they had not been
// claimed. Errors of the database are logged and retried after a second. Run must be called at most once at a time.
func (q *Queue) Run(ctx context.Context, work Work) {
	r := &run{Queue: q, work: work, lanes: make(map[string]int), releases: make(chan slotRelease, 2*q.Max)}
	// Jobs have a context of their own, since they may go on when ctx has ended.
	jobCtx, cancelJobs := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelJobs()
	// An error is not final: these jobs also become ready when their leases end.
	if q.SingleProcess {
		q.pollErr.store(q.requeueExpired(ctx, maxTime))
	}
	for ctx.Err() == nil {
		until, err := r.round(ctx, jobCtx)
		if err != nil && ctx.Err() == nil {
			q.Logger.Error("polling the job queue failed", "kind", q.Kind, "error", err)
			until = q.clock.Now().Add(retryPoll)
		}
		q.pollErr.store(err)
		r.sleep(ctx, until)
	}
	grace, end := context.WithTimeout(context.WithoutCancel(ctx), q.Grace)
	defer end()
	defer context.AfterFunc(grace, cancelJobs)()
	r.running.Wait()
}

// sleep waits until there may be something to do: a nudge, a step of a job, or a time, unless that is zero.
func (r *run) sleep(ctx context.Context, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := r.clock.NewTimer(until.Sub(r.clock.Now()))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-r.nudge:
	case <-due:
	case s := <-r.releases:
		r.release(s)
	case <-ctx.Done():
	}
	for { // releases that are pending share the round
		select {
		case s := <-r.releases:
			r.release(s)
		default:
			return
		}
	}
}

// release frees the slot that a step of a job makes available.
func (r *run) release(s slotRelease) {
	if s.settled {
		r.total--
		return
	}
	if r.lanes[s.lane]--; r.lanes[s.lane] == 0 {
		delete(r.lanes, s.lane)
	}
}

// round makes due jobs ready, starts as many as the limits allow, and returns the time of the next round. A zero time
// means that only a nudge or a step of a job can bring work: no other process can enqueue jobs, and no job waits for a
// time.
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

// promote makes waiting jobs ready that are due, and running ones whose lease has ended. It returns when the next one
// will be, zero if there is none. Jobs that are merely ready need no time.
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

// requeueExpired makes running jobs ready whose leases ended by a time in microseconds since 1970. The process that
// ran them has crashed, or their Settle could not be committed. If one still runs after all, its outcome has no
// effect.
func (q *Queue) requeueExpired(ctx context.Context, by int64) error {
	return q.updateAll(ctx, promoteBatch, requeueJobs, q.Kind, by, q.clock.Now().UnixMicro())
}

// updateAll repeats a statement that changes at most batch rows, its last argument, until it changes fewer. Each run is a
// transaction of its own.
func (q *Queue) updateAll(ctx context.Context, batch int64, query string, args ...any) error {
	for {
		n, err := q.updateOnce(ctx, batch, query, args...)
		if err != nil || n < batch {
			return err
		}
	}
}

// updateOnce runs such a statement once, in a transaction, and returns the number of rows it changed.
func (q *Queue) updateOnce(ctx context.Context, batch int64, query string, args ...any) (n int64, err error) {
	args = append(args, batch)
	err = q.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = tx.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

// freeSlots returns how many jobs of a lane may be started now, when planned others are about to be. The second half
// of Max is for lanes without a running job, one each, so that many slow lanes cannot take all of it.
func (r *run) freeSlots(lane string, planned int) int {
	total := r.total + planned
	most := r.LaneMax
	if total >= r.Max/2 {
		most = 1
	}
	return max(0, min(most-r.lanes[lane], r.Max-total))
}

// slots is the number of jobs to claim of a lane.
type slots struct {
	lane string
	max  int
}

// freeLanes returns up to lanesPerClaim lanes that have ready jobs and free slots. It begins after the lane that was
// served last and goes around once, so that lanes whose names sort first are not preferred. None means that no job can
// be started now.
func (r *run) freeLanes(ctx context.Context) (all []slots, err error) {
	if r.total >= r.Max {
		return nil, nil
	}
	planned, start := 0, r.cursor
	for {
		limit := lanesPerClaim + len(r.lanes) // since that many may be at their limit
		lanes, err := listLanes(ctx, r.db, r.Kind, ready, r.cursor, limit)
		if err != nil {
			return nil, err
		}
		for _, lane := range lanes {
			if n := r.freeSlots(lane, planned); n > 0 && len(all) < lanesPerClaim {
				all = append(all, slots{lane, n})
				planned += n
			}
			r.cursor = lane
		}
		if len(lanes) < limit {
			r.cursor = ""
		}
		if len(all) > 0 || start == "" || r.cursor != "" {
			return all, nil
		}
		start = "" // once more, from the beginning
	}
}

// claimTries is how often claim tries again when other processes were faster. More tries would only read lanes that
// others empty; the next poll finds what is left.
const claimTries = 3

// claim claims as many jobs as the limits allow, all in one transaction, and returns none if there are none. The lease
// identifies the claim: a job that is claimed again later has another end of its lease.
func (r *run) claim(ctx context.Context) (jobs []Job, err error) {
	for range claimTries {
		lanes, err := r.freeLanes(ctx)
		if err != nil || len(lanes) == 0 {
			return nil, err
		}
		lease := r.clock.Now().Add(r.Lease).UnixMicro()
		err = r.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
			jobs = nil
			for _, s := range lanes {
				claimed, err := claimTx(ctx, tx, r.Kind, s.lane, s.max, lease)
				if err != nil {
					return err
				}
				jobs = append(jobs, claimed...)
			}
			return nil
		}, nil)
		if err != nil || len(jobs) > 0 {
			return jobs, err
		}
	}
	return nil, nil
}

// start runs a claimed job on a goroutine, which ends when the job is settled or its lease is left to end. jobCtx is
// cancelled when the grace of a shutdown is over.
func (r *run) start(jobCtx context.Context, j Job) {
	r.lanes[j.Lane]++
	r.total++
	r.running.Go(func() {
		settle, err := r.try(jobCtx, j)
		r.releases <- slotRelease{lane: j.Lane} // does not block: the channel has capacity for every job
		if err == nil {
			err = r.settle(jobCtx, j, settle)
		}
		if err != nil {
			r.Logger.Error("job failed, it will be run again when its lease ends", "kind", r.Kind, "job", j.ID, "attempt", j.Attempt, "error", err)
		}
		r.releases <- slotRelease{settled: true}
	})
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

// settle ends the lease of a job with the outcome that settle returns. It is not cancelled by a shutdown: the effect
// of the job has happened, and without its outcome the job would be run again.
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
			return err // the lease has ended, or the lane was deleted: the outcome is void
		}
		v, err := settle(ctx, tx)
		if err != nil {
			return err
		}
		return v.applyTx(ctx, tx, j)
	}, nil)
}

// applyTx stores the outcome of a job that selectLeased has locked.
func (v Verdict) applyTx(ctx context.Context, tx *db.Tx, j Job) error {
	query, args := updateState, []any{j.ID, v.state, v.at.UnixMicro()}
	if v.state == done {
		query, args = deleteJob, args[:1]
	}
	_, err := tx.Exec(ctx, query, args...)
	return err
}
