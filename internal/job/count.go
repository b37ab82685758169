package job

import (
	"context"
	"fmt"

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
