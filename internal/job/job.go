// Package job implements a durable job queue and periodic jobs in the database, for one process or several.
//
// A Queue holds the jobs of one kind. EnqueueTx inserts jobs in the transaction of their cause, so that they exist if and
// only if it commits. Run claims jobs under leases and calls a Work function for each, on a goroutine of its own. The Work
// function returns a Settle function, which decides the Verdict on the job in a transaction. A job is run at least once,
// since a crash may come between its effect and that transaction, so external effects must be idempotent.
//
// Jobs of one lane, such as those for one webhook endpoint, share a concurrency limit, and half of all slots are for
// lanes without a running job, so that slow lanes do not delay others. Jobs have no order, not even within a lane.
// Waiting jobs are in the database and not in memory, where only running jobs are.
//
// A Schedule runs periodic jobs (type Task), in one process at a time if the processes share a database. Why the queue
// is not a library: docs/decisions/0020.
package job

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// ID identifies a job, in the database and in logs. IDs sort by time of creation.
type ID string

// Prefix returns the part before the underscore. Package id calls it when it makes an identifier.
func (ID) Prefix() string { return "job" }

// Job is a job that this process has claimed.
type Job struct {
	ID        ID
	Lane      string
	Attempt   int // 1 for the first; attempts that a crash interrupted count, attempts that a shutdown cancelled do not
	CreatedAt time.Time
	Payload   string // as it was enqueued

	lease int64 // end of the lease in microseconds since 1970; it identifies this claim of the job
}

// New is a job to enqueue.
type New struct {
	Lane    string        // jobs of one lane share Options.LaneMax
	Payload string        // for Work; this package does not interpret it
	HeldFor time.Duration // unless zero, the job is held at first, and erased after this time if its lane is not released
}

// Work runs a job outside of a transaction, and returns a function that decides its outcome in one. It is called from
// several goroutines, one for each job. A nil Settle means that the job could not be attempted, for example because the
// database failed. The job is then run again when its lease has ended, or at once if ctx was cancelled, as it is at the
// end of a shutdown. A panic is logged and has the same effect as a nil Settle.
type Work func(ctx context.Context, j Job) Settle

// Settle runs in the transaction that ends the lease of a job, and returns the job's outcome, which is committed
// together with the writes of Settle. It is not called if the lease has ended meanwhile or the job was deleted. It may
// be called more than once, and must lock the rows that it relies on (see db.UpdateLocked). If it returns an error, the
// job is run again when its lease ends.
type Settle func(ctx context.Context, tx *db.Tx) (Verdict, error)

// Verdict is the outcome of a run of a job. Done, Retry, Hold and Bury return verdicts.
type Verdict struct {
	state state
	at    time.Time // of the next run (waiting), or of the erasure (held, dead)
}

// Done deletes the job.
func Done() Verdict { return Verdict{state: done} }

// Retry runs the job again at a time, or as soon as possible if the time has passed.
func Retry(at time.Time) Verdict { return Verdict{waiting, at} }

// Hold keeps the job until ReleaseLane releases its lane. If that does not happen by the given time, Erase deletes it.
func Hold(until time.Time) Verdict { return Verdict{held, until} }

// Bury makes the job a dead letter, which is not run again. From the given time on, Erase deletes it.
func Bury(until time.Time) Verdict { return Verdict{dead, until} }

// state is the value of the column state. The statements in sql.go contain the numbers, so they must not change. A running
// job has the state 2, which only statements use.
type state int

const (
	ready   state = 0
	waiting state = 1
	held    state = 3
	dead    state = 4
	done    state = -1 // the row is deleted
)

// Options of a Queue. All fields but Notify, SingleProcess and Logger are required.
type Options struct {
	Kind          string        // the name of the queue in the database
	LaneMax       int           // concurrent jobs of one lane in this process; each process has this limit for itself
	Max           int           // concurrent jobs in this process, which is also how many jobs are in memory
	Lease         time.Duration // must be longer than a job can take; a job that runs longer is run again by any process
	Poll          time.Duration // the interval of polling for jobs that other processes enqueued
	Grace         time.Duration // how long running jobs may continue at shutdown
	Notify        func()        // notifies other processes of new jobs, after the commit; must not block; nil: they poll
	SingleProcess bool          // no other process uses the database: jobs that are running at the start were left by a crash
	Logger        *slog.Logger  // nil: slog.Default()
}

// Queue is the queue of the jobs of one kind. It is safe for concurrent use. Jobs are run by Run, in this process or
// another; a process that only enqueues does not call Run.
type Queue struct {
	Options
	db       *db.DB
	clock    clock.Clock
	wakeup   *Signal      // set if Run shall poll now
	pollErr  lastError    // of the last poll
	activity activity     // of Run
	unread   atomic.Int64 // releases of slots that Run has not received
}

// NewQueue returns a queue on a migrated database. It starts no goroutine and reads nothing.
func NewQueue(d *db.DB, c clock.Clock, o Options) *Queue {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Queue{Options: o, db: d, clock: c, wakeup: NewSignal()}
}

// EnqueueTx enqueues jobs in the transaction of their cause: they are run if and only if it commits. After the commit
// it wakes Run in this process and, with Options.Notify, in others, unless all jobs are held.
func (q *Queue) EnqueueTx(ctx context.Context, tx *db.Tx, jobs ...New) error {
	now := q.clock.Now()
	rows := make([]row, len(jobs))
	wake := false
	for i, j := range jobs {
		rows[i] = row{id: id.New[ID](now), lane: j.Lane, state: ready, dueAt: now, payload: j.Payload}
		if j.HeldFor > 0 {
			rows[i].state, rows[i].dueAt = held, now.Add(j.HeldFor)
		} else {
			wake = true
		}
	}
	if wake {
		tx.AfterCommit(q.enqueued)
	}
	if err := insertTx(ctx, tx, q.Kind, now, rows); err != nil {
		return fmt.Errorf("enqueue %d jobs of %s: %w", len(jobs), q.Kind, err)
	}
	return nil
}

// enqueued wakes the queue in this process and others.
func (q *Queue) enqueued() {
	q.Wake()
	if q.Notify != nil {
		q.Notify()
	}
}

// Wake makes Run poll now. It does not block and may be called from any goroutine. Several calls before the poll begins
// cause a single poll. It is for notifications of new jobs from other processes.
func (q *Queue) Wake() { q.wakeup.Set() }

// Healthy returns an error if the last poll of Run failed, for /readyz. The error does not contain the cause, since its
// text is public; the cause is in the log. Before the first poll it returns nil.
func (q *Queue) Healthy() error {
	if q.pollErr.load() == nil {
		return nil
	}
	return fmt.Errorf("polling the job queue %s failed", q.Kind)
}
