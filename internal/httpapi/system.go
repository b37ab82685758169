package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/httpkit"
)

// Check is the state of one thing the service depends on.
type Check struct {
	Name      string // database, migrations, smtp or jobs
	Err       error  // nil: it works
	Elsewhere bool   // another process does its work
}

// system registers the group system (docs/spec/running.md#readiness). Probes are not limited.
func (a *API) system() {
	register(a, "system", httpkit.Operation{
		ID: "get-health", Method: http.MethodGet, Path: "/healthz", Summary: "Report that the process runs", Status: 200, Root: true,
	}, func(context.Context, *struct{}) (*httpkit.One[Health], error) {
		return httpkit.Single(Health{Status: "ok"}), nil
	})
	register(a, "system", httpkit.Operation{
		ID: "get-readiness", Method: http.MethodGet, Path: "/readyz", Summary: "Report whether everything that calls depend on works", Status: 200, Root: true, Also: 503,
		Text: "The response is 503, in the same form, while a check fails, and during shutdown. If several processes share the work, a check says `elsewhere` in a process that leaves that part to others.",
	}, a.readiness)
}

// Health is the response of the liveness probe.
type Health struct {
	Status string `json:"status" enum:"ok" doc:"Always ok: the process answers."`
}

// Readiness is the response of the readiness probe.
type Readiness struct {
	Status string `json:"status" enum:"ok,unavailable,stopping" doc:"ok, unavailable if a check fails, or stopping after the signal to stop."`
	Checks Checks `json:"checks" doc:"The result of each check."`
}

// Checks has for each dependency "ok", or "elsewhere" if another process does its work, or what is wrong.
type Checks struct {
	Database   string `json:"database" doc:"ok, or what is wrong with the database." example:"ok"`
	Migrations string `json:"migrations" doc:"ok, or what is wrong with the version of the schema." example:"ok"`
	SMTP       string `json:"smtp" doc:"ok, elsewhere if another process receives mail, or what is wrong." example:"ok"`
	Jobs       string `json:"jobs" doc:"ok, elsewhere if another process runs the jobs, or what is wrong." example:"ok"`
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
