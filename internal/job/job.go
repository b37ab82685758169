// Package job implements a durable queue and periodic jobs. A job is enqueued in the transaction of its cause and run at least once, so its
// external effects must be idempotent. Jobs of one lane, such as a webhook endpoint, share a concurrency limit, so that a slow
// lane does not delay others. Waiting jobs are in the database, not in memory.
package job

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// ID identifies a job. IDs sort by time of creation.
type ID string

// Prefix returns the part before the underscore.
func (ID) Prefix() string { return "job" }

// Job is a job that a worker holds.
type Job struct {
	ID        ID
	Lane      string
	Attempt   int // 1 at the first
	CreatedAt time.Time
	Payload   string

	lease int64 // its end in microseconds, which identifies this holding of the job
}

// New is a job to enqueue.
type New struct {
	Lane    string
	Payload string
	HeldFor time.Duration // unless zero, the job is held from the start, and erased after this time if its lane is not released
}

// Work runs a job outside of a transaction, and returns a function that decides its outcome in one. It is called concurrently. A nil Settle
// means that the job could not be tried: it is run again when its lease has ended, or at once if ctx has been cancelled.
type Work func(ctx context.Context, j Job) Settle

// Settle runs in the transaction that ends the holding of a job, and returns the job's outcome. It may run more than once, and must lock the
// rows it relies on (see db.UpdateLocked).
type Settle func(ctx context.Context, tx *db.Tx) (Verdict, error)

// Verdict is the outcome of a run of a job. Done, Retry, Hold and Bury return verdicts.
type Verdict struct {
	state state
	at    time.Time
}

// Done deletes the job.
func Done() Verdict { return Verdict{state: done} }

// Retry runs the job again at a time.
func Retry(at time.Time) Verdict { return Verdict{waiting, at} }

// Hold keeps the job until its lane is released, and erases it at a time.
func Hold(until time.Time) Verdict { return Verdict{held, until} }

// Bury makes the job a dead letter, which is not run again, and erases it at a time.
func Bury(until time.Time) Verdict { return Verdict{dead, until} }

// state is the value of the column of that name; the statements in sql.go contain the numbers.
type state int

const (
	ready   state = 0
	waiting state = 1
	held    state = 3
	dead    state = 4
	done    state = -1 // has no row
)

// Options of a Queue. All fields but Tell, Sole and Logger are required.
type Options struct {
	Kind    string        // the name of the queue
	LaneMax int           // concurrent jobs of one lane in this process
	Max     int           // concurrent jobs in this process
	Lease   time.Duration // must be longer than a job can take; afterwards the job counts as abandoned
	Poll    time.Duration // the interval of polling for jobs that other processes enqueued
	Grace   time.Duration // how long running jobs may go on at shutdown
	Tell    func()        // notifies other processes of new jobs; must not block; nil: they poll
	Sole    bool          // no other process uses the database: jobs that are running at the start were left by a crash
	Logger  *slog.Logger  // nil: slog.Default()
}

// Queue is the queue of the jobs of one kind. It is safe for concurrent use. Jobs are run by Run, in this process or another.
type Queue struct {
	Options
	db    *db.DB
	clock clock.Clock
	nudge chan struct{}
	fault faultBox
}

// NewQueue returns a queue.
func NewQueue(d *db.DB, c clock.Clock, o Options) *Queue {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Queue{Options: o, db: d, clock: c, nudge: make(chan struct{}, 1)}
}

// EnqueueTx enqueues jobs in the transaction of their cause: they are run if and only if it commits.
func (q *Queue) EnqueueTx(ctx context.Context, tx *db.Tx, jobs ...New) error {
	now := q.clock.Now()
	rows := make([]row, len(jobs))
	begin := false
	for i, j := range jobs {
		rows[i] = row{id: id.New[ID](now), lane: j.Lane, state: ready, dueAt: now, payload: j.Payload}
		if j.HeldFor > 0 {
			rows[i].state, rows[i].dueAt = held, now.Add(j.HeldFor)
		} else {
			begin = true
		}
	}
	if begin {
		tx.AfterCommit(q.enqueued)
	}
	if err := insertTx(ctx, tx, q.Kind, now, rows); err != nil {
		return fmt.Errorf("enqueue %d jobs of %s: %w", len(jobs), q.Kind, err)
	}
	return nil
}

// enqueued wakes the queue in this process and others.
func (q *Queue) enqueued() {
	q.Nudge()
	if q.Tell != nil {
		q.Tell()
	}
}

// Nudge makes Run poll now. It does not block.
func (q *Queue) Nudge() {
	select {
	case q.nudge <- struct{}{}:
	default: // a nudge is pending
	}
}

// Healthy returns an error if Run could not poll the last time. The error is public; the log has its cause.
func (q *Queue) Healthy() error {
	if q.fault.load() == nil {
		return nil
	}
	return fmt.Errorf("polling the job queue %s failed", q.Kind)
}
