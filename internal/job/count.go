package job

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// States returns the names of the states of a job, each at the index of its number in the database. They are public as
// labels of a metric.
func States() []string { return []string{"ready", "waiting", "running", "held", "dead"} }

// Count returns how many jobs of all queues are in each of States; states without jobs are left out. It reads a whole
// index, so it is for metrics and not for requests.
func Count(ctx context.Context, q db.Queryer) (map[string]int64, error) {
	counts, names := make(map[string]int64), States()
	_, err := db.Collect(ctx, q, func(row db.Row) (n int64, err error) {
		var s int
		err = row.Scan(&s, &n)
		if s >= 0 && s < len(names) {
			counts[names[s]] = n
		}
		return n, err
	}, countJobs)
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	return counts, nil
}

// BacklogMax is where the counts of a Backlog end.
const BacklogMax = 10_000

// Backlog is how many jobs of a queue are in each state, at most BacklogMax each.
type Backlog struct {
	Ready, Waiting, Running, Held, Dead int64
	// ReadySince is when the first of the ready jobs that were counted became ready; zero if there is none.
	ReadySince time.Time
}

// CountBacklog counts the jobs of a queue. It reads a few pages of an index, so it may be called for a request.
func CountBacklog(ctx context.Context, q db.Queryer, kind string) (b Backlog, err error) {
	counts := []*int64{&b.Ready, &b.Waiting, &b.Running, &b.Held, &b.Dead} // at the number of each state
	_, err = db.Collect(ctx, q, func(row db.Row) (n int64, err error) {
		var s int
		var due int64
		if err := row.Scan(&s, &n, &due); err != nil {
			return 0, err
		}
		*counts[s] = n
		if state(s) == ready {
			b.ReadySince = db.Moment(due)
		}
		return n, nil
	}, countBacklog, kind, BacklogMax)
	if err != nil {
		return Backlog{}, fmt.Errorf("count the jobs of %s: %w", kind, err)
	}
	return b, nil
}
