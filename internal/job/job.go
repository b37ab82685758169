// Package job is the durable queue: work that is enqueued in the transaction of its cause, and done at least once. Jobs of
// one lane share a bound, so that a slow lane never delays another; what waits, waits in the database. It refuses to know
// what a job does, and to do one exactly once: what a job causes outside has to bear being done again.
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

// ID identifies a job. It sorts by the time it was made.
type ID string

// Prefix is the part before the underscore.
func (ID) Prefix() string { return "job" }

// Job is a piece of work that a worker holds.
type Job struct {
	ID        ID
	Lane      string
	Attempt   int // 1 at the first
	CreatedAt time.Time
	Payload   string

	lease int64 // its end, which tells this holding from every other
}

// New is a job to be enqueued.
type New struct {
	Lane    string
	Payload string
	HeldFor time.Duration // not zero: it is held from the start, and erased after this time unless it is released
}

// Work does a job without a transaction, and returns what to do about it in one. It is called from many goroutines. A nil
// Settle says that the job could not be tried: it is done again when its lease has ended, or at once where the context has.
type Work func(ctx context.Context, j Job) Settle

// Settle runs in the transaction that ends the holding of a job and decides what becomes of it. It may run more than once,
// and locks what it relies on (see db.UpdateLocked).
type Settle func(ctx context.Context, tx *db.Tx) (Verdict, error)

// Verdict is what becomes of a job. The zero Verdict says that it is done.
type Verdict struct {
	state state
	at    time.Time
}

// Done ends a job.
func Done() Verdict { return Verdict{state: done} }

// Retry has a job done again at a time.
func Retry(at time.Time) Verdict { return Verdict{waiting, at} }

// Hold keeps a job until its lane is released, and erases it at a time.
func Hold(until time.Time) Verdict { return Verdict{held, until} }

// Bury makes a job a dead letter: it is never done again, and erased at a time.
func Bury(until time.Time) Verdict { return Verdict{dead, until} }

// state is what the column of that name holds; the statements in sql.go have the numbers.
type state int

const (
	ready   state = 0
	waiting state = 1
	held    state = 3
	dead    state = 4
	done    state = -1 // has no row
)

// Options of a Queue. Every field but Tell and Logger has to be set.
type Options struct {
	Kind    string        // names the queue; queues of different kinds do not see each other
	LaneMax int           // jobs of one lane under way at once, in this process
	Max     int           // jobs under way at once, in this process
	Lease   time.Duration // longer than a job can take: then another process takes it for abandoned
	Poll    time.Duration // how soon the jobs that another process enqueued are noticed
	Grace   time.Duration // how long jobs under way may go on when the queue is stopped
	Tell    func()        // tells other processes that there are new jobs, and must not wait; nil: they poll
	Sole    bool          // no other process works on this database: what is under way at the start was left by a crash
	Logger  *slog.Logger  // nil: slog.Default()
}

// Queue is the jobs of one kind. It is safe for concurrent use; Run must be running, in this process or another, for
// them to be done.
type Queue struct {
	Options
	db    *db.DB
	clock clock.Clock
	nudge chan struct{}
	fault faultBox
}

// NewQueue makes a queue.
func NewQueue(d *db.DB, c clock.Clock, o Options) *Queue {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Queue{Options: o, db: d, clock: c, nudge: make(chan struct{}, 1)}
}

// EnqueueTx adds jobs in the transaction of their cause: they are done if it commits, and only then.
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

// enqueued has what became ready done soon, by this process or another.
func (q *Queue) enqueued() {
	q.Nudge()
	if q.Tell != nil {
		q.Tell()
	}
}

// Nudge has Run look for jobs now. It never waits.
func (q *Queue) Nudge() {
	select {
	case q.nudge <- struct{}{}:
	default: // it will look anyway
	}
}

// Healthy tells that Run cannot find jobs, or is nil. It is for everybody; the log says why.
func (q *Queue) Healthy() error {
	if q.fault.load() == nil {
		return nil
	}
	return fmt.Errorf("jobs of %s: cannot be looked for", q.Kind)
}
