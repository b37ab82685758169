package job_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/job"
)

// What a queue asks is answered from an index, and in its order, so that it costs the same however much waits.
func TestStatementsUseAnIndex(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	for query, args := range job.Statements() {
		steps := dbtest.QueryPlan(t, d, query, args...)
		for _, step := range steps {
			// The lanes that were found are read whole: there are as many as were asked for.
			whole := strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "found") && !strings.Contains(step, "first") && step != "SCAN CONSTANT ROW"
			if whole || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s\n%s", query, strings.Join(steps, "\n"))
				break
			}
		}
	}
}
