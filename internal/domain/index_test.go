package domain_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/domain"
)

// The statements of the mail path and of the re-check use an index, so that their cost does not grow with the domains.
func TestLookupsUseAnIndex(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	for query, args := range domain.Lookups() {
		steps := dbtest.QueryPlan(t, d, query, args...)
		plan := strings.Join(steps, "; ")
		// A scan of a complete index is allowed if it is a partial index that contains only the selected rows.
		if strings.Contains(plan, "SCAN") && !strings.Contains(plan, "USING INDEX private_domain_ending") || !strings.Contains(plan, "INDEX") {
			t.Errorf("the plan of %s is\n%s\nwant it to use an index, and to scan none but private_domain_ending", query, plan)
		}
	}
}
