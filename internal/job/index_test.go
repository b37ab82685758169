package job_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/job"
)

// The statements of a queue use an index, also for their order, so that their cost does not grow with the number of jobs.
func TestStatementsUseAnIndex(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	for query, args := range job.Statements() {
		steps := dbtest.QueryPlan(t, d, query, args...)
		for _, step := range steps {
			// A full scan of the CTE is allowed: it contains only the lanes that are returned.
			whole := strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "found") && !strings.Contains(step, "first") && step != "SCAN CONSTANT ROW"
			if whole || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("the plan of %s is\n%s\nwant it to read no whole table and to sort nothing", query, strings.Join(steps, "\n"))
				break
			}
		}
	}
}
