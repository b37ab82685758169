package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/httpkit"
)

// Check is the state of one thing the service depends on.
type Check struct {
	Name      string // database, migrations, smtp, jobs
	Err       error  // nil: it is well
	Elsewhere bool   // another process does it
}

// system registers the group system (spec §4). Probes are not limited.
func (a *API) system() {
	register(a, "system", httpkit.Operation{
		ID: "get-health", Method: http.MethodGet, Path: "/healthz", Summary: "Tell that the process runs", Status: 200, Root: true,
	}, func(context.Context, *struct{}) (*httpkit.One[Health], error) {
		return httpkit.Single(Health{Status: "ok"}), nil
	})
	register(a, "system", httpkit.Operation{
		ID: "get-readiness", Method: http.MethodGet, Path: "/readyz", Summary: "Tell whether everything works that calls depend on", Status: 200, Root: true, Also: 503,
		Text: "The answer is 503, of the same form, while any check fails, and from when the process was told to stop. Where several processes share the work, one whose check says `elsewhere` leaves that part to others.",
	}, a.readiness)
}

// Health is the answer of the liveness probe.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

// Readiness is the answer of the readiness probe.
type Readiness struct {
	Status string `json:"status" enum:"ok,unavailable,stopping"`
	Checks Checks `json:"checks"`
}

// Checks tells of each dependency "ok", or "elsewhere" where another process does it, or what is wrong.
type Checks struct {
	Database   string `json:"database"`
	Migrations string `json:"migrations"`
	SMTP       string `json:"smtp"`
	Jobs       string `json:"jobs"`
}

type readinessAnswer struct {
	Status int
	Body   httpkit.Data[Readiness]
}

func (a *API) readiness(ctx context.Context, _ *struct{}) (*readinessAnswer, error) {
	answer := &readinessAnswer{Status: http.StatusOK}
	answer.Body.Data.Status = "ok"
	checks := map[string]*string{
		"database": &answer.Body.Data.Checks.Database, "migrations": &answer.Body.Data.Checks.Migrations,
		"smtp": &answer.Body.Data.Checks.SMTP, "jobs": &answer.Body.Data.Checks.Jobs,
	}
	for _, c := range a.Ready(ctx) {
		switch {
		case c.Err != nil:
			*checks[c.Name] = c.Err.Error()
			answer.Status, answer.Body.Data.Status = http.StatusServiceUnavailable, "unavailable"
		case c.Elsewhere:
			*checks[c.Name] = "elsewhere"
		default:
			*checks[c.Name] = "ok"
		}
	}
	if a.Stopping() {
		answer.Status, answer.Body.Data.Status = http.StatusServiceUnavailable, "stopping"
	}
	return answer, nil
}
