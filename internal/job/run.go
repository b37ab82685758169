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
	wakeBatch = 500         // jobs that one update makes ready
	laneBatch = 64          // lanes that one update claims from
	tryAgain  = time.Second // after the database failed
)

// run is a Queue at work. Its fields belong to the goroutine of Run.
type run struct {
	*Queue
	work   Work
	lanes  map[string]int // jobs being worked at, by lane
	total  int            // jobs held: those, and those being settled
	cursor string         // the lane that was served last: the next ones come first
	steps  chan step
	under  sync.WaitGroup
}

// step is how far a job has come: first its lane is free for another, then its place.
type step struct {
	lane    string
	settled bool
}

// Run does jobs until ctx ends; then those under way may finish, for Grace at most, and it returns. What was cut off is
// given back.
func (q *Queue) Run(ctx context.Context, work Work) {
	r := &run{Queue: q, work: work, lanes: make(map[string]int), steps: make(chan step, 2*q.Max)}
	working, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	if q.Sole {
		q.fault.store(q.abandoned(ctx, beyond))
	}
	for ctx.Err() == nil {
		until, err := r.round(ctx, working)
		if err != nil && ctx.Err() == nil {
			q.Logger.Error("jobs could not be looked for", "kind", q.Kind, "error", err)
			until = q.clock.Now().Add(tryAgain)
		}
		q.fault.store(err)
		r.sleep(ctx, until)
	}
	grace, end := context.WithTimeout(context.WithoutCancel(ctx), q.Grace)
	defer end()
	defer context.AfterFunc(grace, cutOff)()
	r.under.Wait()
}

// sleep waits until there may be something to do: until a time, if that is not zero, or until it is told.
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
	case s := <-r.steps:
		r.note(s)
	case <-ctx.Done():
	}
	for { // what came about meanwhile shares the round
		select {
		case s := <-r.steps:
			r.note(s)
		default:
			return
		}
	}
}

func (r *run) note(s step) {
	if s.settled {
		r.total--
		return
	}
	if r.lanes[s.lane]--; r.lanes[s.lane] == 0 {
		delete(r.lanes, s.lane)
	}
}

// round makes ready what is due, begins what there is room for, and tells until when nothing else can be due; zero: until
// something is enqueued.
func (r *run) round(ctx, working context.Context) (until time.Time, err error) {
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
			r.begin(working, j)
		}
	}
	if r.Sole {
		return until, nil
	}
	if look := r.clock.Now().Add(r.Poll); until.IsZero() || look.Before(until) {
		until = look
	}
	return until, nil
}

// promote makes ready what is due, and what a worker that is gone has left. It returns when the next job is due.
func (r *run) promote(ctx context.Context) (next time.Time, err error) {
	for {
		waiting, lease, err := dueOf(ctx, r.db, r.Kind)
		if err != nil {
			return next, err
		}
		now := r.clock.Now()
		late := func(at time.Time) bool { return !at.IsZero() && !at.After(now) }
		if !late(waiting) && !late(lease) {
			if waiting.IsZero() || !lease.IsZero() && lease.Before(waiting) {
				return lease, nil
			}
			return waiting, nil
		}
		if late(waiting) {
			err = r.update(ctx, wakeBatch, wakeJobs, r.Kind, now.UnixMicro())
		}
		if err == nil && late(lease) {
			err = r.abandoned(ctx, now.UnixMicro())
		}
		if err != nil {
			return next, err
		}
	}
}

// beyond is later than every lease.
const beyond int64 = 1 << 62

// abandoned makes ready again what is under way under leases that ended by a time.
func (q *Queue) abandoned(ctx context.Context, by int64) error {
	return q.update(ctx, wakeBatch, abandonJobs, q.Kind, by, q.clock.Now().UnixMicro())
}

// update repeats a statement that touches a batch at most, which is its last argument, until it touches fewer.
func (q *Queue) update(ctx context.Context, batch int64, query string, args ...any) error {
	for {
		n, err := q.step(ctx, batch, query, args...)
		if err != nil || n < batch {
			return err
		}
	}
}

// step runs such a statement once and tells how many rows it touched.
func (q *Queue) step(ctx context.Context, batch int64, query string, args ...any) (n int64, err error) {
	args = append(args, batch)
	err = q.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = tx.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

// room is how many jobs of a lane may be begun now. The second half of the places is for lanes that have nothing under way:
// many slow lanes cannot take them all.
func (r *run) room(lane string, planned int) int {
	total := r.total + planned
	most := r.LaneMax
	if total >= r.Max/2 {
		most = 1
	}
	return max(0, min(most-r.lanes[lane], r.Max-total))
}

// share is what is claimed of a lane.
type share struct {
	lane string
	max  int
}

// shares are the lanes that have ready jobs and room, beginning behind those that were served last.
func (r *run) shares(ctx context.Context) (all []share, err error) {
	if r.total >= r.Max {
		return nil, nil
	}
	planned, first := 0, r.cursor
	for {
		asked := laneBatch + len(r.lanes) // since that many may have no room
		lanes, err := lanesOf(ctx, r.db, r.Kind, ready, r.cursor, asked)
		if err != nil {
			return nil, err
		}
		for _, lane := range lanes {
			if n := r.room(lane, planned); n > 0 && len(all) < laneBatch {
				all = append(all, share{lane, n})
				planned += n
			}
			r.cursor = lane
		}
		if len(lanes) < asked {
			r.cursor = ""
		}
		if len(all) > 0 || first == "" || r.cursor != "" {
			return all, nil
		}
		first = "" // once more, from the beginning
	}
}

// claimTries is how often jobs are looked for again when other processes were faster.
const claimTries = 3

// claim takes jobs for which there is room, none where there are none.
func (r *run) claim(ctx context.Context) (jobs []Job, err error) {
	for range claimTries {
		shares, err := r.shares(ctx)
		if err != nil || len(shares) == 0 {
			return nil, err
		}
		lease := r.clock.Now().Add(r.Lease).UnixMicro()
		err = r.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
			jobs = nil
			for _, s := range shares {
				some, err := claimTx(ctx, tx, r.Kind, s.lane, s.max, lease)
				if err != nil {
					return err
				}
				jobs = append(jobs, some...)
			}
			return nil
		}, nil)
		if err != nil || len(jobs) > 0 {
			return jobs, err
		}
	}
	return nil, nil
}

func (r *run) begin(working context.Context, j Job) {
	r.lanes[j.Lane]++
	r.total++
	r.under.Go(func() {
		settle, err := r.try(working, j)
		r.steps <- step{lane: j.Lane} // which has room for each
		if err == nil {
			err = r.settle(working, j, settle)
		}
		if err != nil {
			r.Logger.Error("a job failed; it is done again when its lease ends", "kind", r.Kind, "job", j.ID, "attempt", j.Attempt, "error", err)
		}
		r.steps <- step{settled: true}
	})
}

// try does a job and makes a panic of it an error.
func (r *run) try(working context.Context, j Job) (settle Settle, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return r.work(working, j), nil
}

// settle ends the holding of a job.
func (r *run) settle(working context.Context, j Job, settle Settle) error {
	if settle == nil && working.Err() == nil {
		return nil // its lease keeps it from being tried again at once
	}
	return r.db.UpdateLocked(context.WithoutCancel(working), func(ctx context.Context, tx *db.Tx) error {
		if settle == nil {
			_, err := tx.Exec(ctx, giveBack, j.ID, j.lease, r.clock.Now().UnixMicro())
			return err
		}
		holds, err := holdsTx(ctx, tx, j)
		if err != nil || !holds {
			return err // its lease has ended, or its lane is gone: nothing of it counts any more
		}
		v, err := settle(ctx, tx)
		if err != nil {
			return err
		}
		return v.applyTx(ctx, tx, j)
	}, nil)
}

func (v Verdict) applyTx(ctx context.Context, tx *db.Tx, j Job) error {
	query, args := updateState, []any{j.ID, v.state, v.at.UnixMicro()}
	if v.state == done {
		query, args = deleteJob, args[:1]
	}
	_, err := tx.Exec(ctx, query, args...)
	return err
}
