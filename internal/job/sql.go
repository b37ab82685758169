package job

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// The numbers are those of type state, and 2 for running. Times are microseconds since 1970; what due_at means depends
// on the state (see the table in the migration). The redundant state <> 0 lets SQLite use the partial index job_due.
const (
	// selectLanes lists the lanes after $3 that have jobs of a state. It is a loose index scan, with one index look-up for each lane,
	// whatever the number of its jobs.
	selectLanes = `WITH RECURSIVE found (lane) AS (
		SELECT * FROM (SELECT lane FROM job WHERE kind = $1 AND state = $2 AND lane > $3 ORDER BY lane LIMIT 1) AS first
		UNION ALL
		SELECT (SELECT j.lane FROM job AS j WHERE j.kind = $1 AND j.state = $2 AND j.lane > found.lane ORDER BY j.lane LIMIT 1)
			FROM found WHERE found.lane IS NOT NULL
		) SELECT lane FROM found WHERE lane IS NOT NULL LIMIT $4`
	selectDue = `SELECT coalesce((SELECT min(due_at) FROM job WHERE kind = $1 AND state <> 0 AND state = 1), 0),
		coalesce((SELECT min(due_at) FROM job WHERE kind = $1 AND state <> 0 AND state = 2), 0)`

	promoteJobs = `UPDATE job SET state = 0 WHERE id IN
		(SELECT id FROM job WHERE kind = $1 AND state <> 0 AND state = 1 AND due_at <= $2 ORDER BY due_at LIMIT $3)`
	requeueJobs = `UPDATE job SET state = 0, due_at = $3 WHERE id IN
		(SELECT id FROM job WHERE kind = $1 AND state <> 0 AND state = 2 AND due_at <= $2 ORDER BY due_at LIMIT $4)`
	eraseJobs = `DELETE FROM job WHERE id IN
		(SELECT id FROM job WHERE kind = $1 AND state <> 0 AND state IN (3, 4) AND due_at <= $2 LIMIT $3)`

	// countBacklog counts at most $2 rows of each state, so that it reads little however long the queue is.
	countBacklog = `SELECT state, count(*), min(due_at) FROM (
		SELECT * FROM (SELECT state, due_at FROM job WHERE kind = $1 AND state = 0 LIMIT $2) AS ready
		UNION ALL SELECT * FROM (SELECT state, due_at FROM job WHERE kind = $1 AND state = 1 LIMIT $2) AS waiting
		UNION ALL SELECT * FROM (SELECT state, due_at FROM job WHERE kind = $1 AND state = 2 LIMIT $2) AS running
		UNION ALL SELECT * FROM (SELECT state, due_at FROM job WHERE kind = $1 AND state = 3 LIMIT $2) AS held
		UNION ALL SELECT * FROM (SELECT state, due_at FROM job WHERE kind = $1 AND state = 4 LIMIT $2) AS dead
		) AS counted GROUP BY state`

	countJobs   = "SELECT state, count(*) FROM job GROUP BY state"
	updateState = "UPDATE job SET state = $2, due_at = $3 WHERE id = $1"
	returnJob   = "UPDATE job SET state = 0, attempt = attempt - 1, due_at = $3 WHERE id = $1 AND state = 2 AND due_at = $2"
	deleteJob   = "DELETE FROM job WHERE id = $1"

	holdLane = `UPDATE job SET state = 3, due_at = created_at + CAST($3 AS BIGINT) WHERE id IN
		(SELECT id FROM job WHERE kind = $1 AND state IN (0, 1) AND lane = $2 LIMIT $4)`
	releaseLane = `UPDATE job SET state = 0, due_at = $3 WHERE id IN
		(SELECT id FROM job WHERE kind = $1 AND state = 3 AND lane = $2 ORDER BY due_at LIMIT $4)`
	deleteWholeLane = "DELETE FROM job WHERE kind = $1 AND lane = $2"
	deleteLane      = `DELETE FROM job WHERE id IN
		(SELECT id FROM job WHERE kind = $1 AND state IN (0, 1, 2, 3, 4) AND lane = $2 LIMIT $3)`

	insertSchedule = "INSERT INTO job_schedule (name, next_at, lease_until) VALUES ($1, $2, 0) ON CONFLICT (name) DO NOTHING"
	selectSchedule = "SELECT next_at, lease_until FROM job_schedule WHERE name = $1"
	// A claim succeeds only if the row is as it was read before. Renewing and ending a lease succeed only if it is that of
	// the caller.
	claimSchedule = "UPDATE job_schedule SET lease_until = $2 WHERE name = $1 AND next_at = $3 AND lease_until = $4"
	renewSchedule = "UPDATE job_schedule SET lease_until = $3 WHERE name = $1 AND lease_until = $2"
	endSchedule   = "UPDATE job_schedule SET next_at = $3, lease_until = 0 WHERE name = $1 AND lease_until = $2"
)

// claimJobs claims jobs of a lane. Processes that share a PostgreSQL do so concurrently, so each skips rows that another
// has locked; SQLite has a single writer. The oldest jobs are claimed first, but nothing depends on that order.
func claimJobs() db.Per {
	const (
		begin = `UPDATE job SET state = 2, due_at = $1, attempt = attempt + 1 WHERE id IN
			(SELECT id FROM job WHERE kind = $2 AND state = 0 AND lane = $3 ORDER BY due_at, id LIMIT $4`
		end = ") RETURNING id, lane, attempt, created_at, payload"
	)
	return db.Per{SQLite: begin + end, Postgres: begin + " FOR UPDATE SKIP LOCKED" + end}
}

// selectLeased selects a job if it is still running under the lease of the caller, and locks it, so that the outcome
// and the loss of the lease cannot both be committed.
func selectLeased() db.Per {
	const text = "SELECT id FROM job WHERE id = $1 AND state = 2 AND due_at = $2"
	return db.Per{SQLite: text, Postgres: text + " FOR UPDATE"}
}

// row is a job to insert.
type row struct {
	id      ID
	lane    string
	state   state
	dueAt   time.Time
	payload string
}

// insertColumns is followed by the values of one or more rows.
const insertColumns = "INSERT INTO job (kind, created_at, id, lane, state, due_at, payload, attempt) VALUES "

// insertSizes returns the numbers of rows of one statement, in descending order. There are few of them, so that few
// statements are prepared and cached on each connection.
func insertSizes() []int { return []int{64, 8, 1} }

// insertTx inserts jobs with as few statements as insertSizes allows.
func insertTx(ctx context.Context, tx *db.Tx, kind string, now time.Time, rows []row) error {
	for _, size := range insertSizes() {
		for len(rows) >= size {
			args := []any{kind, now.UnixMicro()}
			for _, r := range rows[:size] {
				args = append(args, r.id, r.lane, r.state, r.dueAt.UnixMicro(), r.payload)
			}
			if err := tx.Queue(ctx, insertColumns+insertValues(size), args...); err != nil {
				return err
			}
			rows = rows[size:]
		}
	}
	return nil
}

// insertValues returns the placeholders of a number of rows, which share $1, the kind, and $2, the time.
func insertValues(rows int) string {
	const fields = 5
	var b strings.Builder
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		n := 3 + fields*i
		fmt.Fprintf(&b, "($1,$2,$%d,$%d,$%d,$%d,$%d,0)", n, n+1, n+2, n+3, n+4)
	}
	return b.String()
}

func scanJob(r db.Row) (j Job, err error) {
	var created int64
	err = r.Scan(&j.ID, &j.Lane, &j.Attempt, &created, &j.Payload)
	j.CreatedAt = time.UnixMicro(created).UTC()
	return j, err
}

// claimTx claims up to max ready jobs of a lane under a lease, whose end is in microseconds since 1970.
func claimTx(ctx context.Context, tx *db.Tx, kind, lane string, max int, lease int64) ([]Job, error) {
	jobs, err := db.Collect(ctx, tx, scanJob, claimJobs().On(tx.Engine()), lease, kind, lane, max)
	if err != nil {
		return nil, fmt.Errorf("claim jobs of %s in lane %s: %w", kind, lane, err)
	}
	for i := range jobs {
		jobs[i].lease = lease
	}
	return jobs, nil
}

// listLanes returns up to max lanes that have jobs of a state and sort behind the lane after, in order.
func listLanes(ctx context.Context, q db.Queryer, kind string, s state, after string, max int) ([]string, error) {
	lanes, err := db.Collect(ctx, q, db.Value[string], selectLanes, kind, s, after, max)
	if err != nil {
		return nil, fmt.Errorf("list the lanes of %s: %w", kind, err)
	}
	return lanes, nil
}

// nextDue returns when the first waiting job is due and when the first lease ends; each is zero if there is none.
func nextDue(ctx context.Context, q db.Queryer, kind string) (waiting, lease time.Time, err error) {
	var w, l int64
	if err := q.QueryRow(ctx, selectDue, kind).Scan(&w, &l); err != nil {
		return waiting, lease, fmt.Errorf("look for the jobs of %s: %w", kind, err)
	}
	return db.Moment(w), db.Moment(l), nil
}

// holdsLeaseTx reports whether a job is still running under the lease with which it was claimed, and locks its row.
func holdsLeaseTx(ctx context.Context, tx *db.Tx, j Job) (bool, error) {
	found, err := db.Collect(ctx, tx, db.Value[ID], selectLeased().On(tx.Engine()), j.ID, j.lease)
	return len(found) == 1, err
}

// getLease reads the row of a task. It must exist.
func getLease(ctx context.Context, q db.Queryer, name string) (l lease, err error) {
	var next, until int64
	if err := q.QueryRow(ctx, selectSchedule, name).Scan(&next, &until); err != nil {
		return l, fmt.Errorf("read the schedule of %s: %w", name, err)
	}
	return lease{next: time.UnixMicro(next).UTC(), until: db.Moment(until)}, nil
}
