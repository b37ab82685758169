package job_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/job"
)

func TestBacklogCountsJobsByState(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d, job.Options{LaneMax: 2, Max: 8, Lease: time.Minute, SingleProcess: true})
		f.enqueue(job.New{Lane: "a"}, job.New{Lane: "a"}, job.New{Lane: "a"}, job.New{Lane: "a"}, job.New{Lane: "a"})
		f.next()
		f.next().end(job.Retry(f.clock.Now().Add(time.Hour)))
		f.next()
		f.waitCount(waiting, 1) // a lane goes on before the outcome of a job is committed
		got, err := job.CountBacklog(t.Context(), d, "test")
		want := job.Backlog{Ready: 2, Waiting: 1, Running: 2, ReadySince: noon}
		if err != nil || got != want {
			t.Errorf(`job.CountBacklog(ctx, d, "test") = %+v, %v, want %+v`, got, err, want)
		}
		got, err = job.CountBacklog(t.Context(), d, "another")
		if err != nil || got != (job.Backlog{}) {
			t.Errorf(`job.CountBacklog(ctx, d, "another") = %+v, %v, want an empty one`, got, err)
		}
	})
}

func TestBacklogReadsOnlyAnIndex(t *testing.T) {
	query, args := job.CountBacklogStatement()
	steps := dbtest.QueryPlan(t, dbtest.Open(t, db.Options{}), query, args...)
	searches := 0
	for _, step := range steps {
		if strings.HasPrefix(step, "SCAN job") {
			t.Errorf("the plan of %s has the step %q, want no scan of the table", query, step)
		}
		if strings.HasPrefix(step, "SEARCH job USING COVERING INDEX") {
			searches++
		}
	}
	if searches != 5 {
		t.Errorf("the plan has %d searches of an index, want 5:\n%s", searches, strings.Join(steps, "\n"))
	}
}
