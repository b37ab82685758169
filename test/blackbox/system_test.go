package blackbox_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

type readiness struct {
	Status string
	Checks checks
}

type checks struct{ Database, Migrations, SMTP, Jobs string }

// probe is a probe's answer below the base path; the one at the root must be the same.
func (s *service) probe(path string, status int) (r readiness) {
	s.t.Helper()
	a := s.call(http.MethodGet, path, "", status, "")
	root := s.do(http.MethodGet, path, "", nil, func(r *http.Request) { r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v1") })
	if root.Status != status || string(root.Body) != string(a.Body) {
		s.t.Errorf("at the root: %d %s, below the base path %s, want Status %v and Body %v", root.Status, root.Body, a.Body, status, string(a.Body))
	}
	a.Into(s.t, &r)
	return r
}

// worker is a probe's answer by the process that runs the jobs.
func (s *service) worker(path string) (status int, r readiness) {
	s.t.Helper()
	a := s.do(http.MethodGet, path, "", nil, func(r *http.Request) { r.URL.Host = s.Jobs })
	if a.Code() == "" {
		a.Into(s.t, &r)
	}
	return a.Status, r
}

func TestProbesOfAHealthyService(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	all, jobs := checks{"ok", "ok", "ok", "ok"}, checks{"ok", "ok", "ok", "ok"}
	if s.OnPostgres() { // each process answers for its own part
		all.Jobs, jobs.SMTP = "elsewhere", "elsewhere"
	}
	if h := s.probe("/healthz", 200); h.Status != "ok" {
		t.Errorf(`s.probe("/healthz", 200) = %+v, want Status "ok"`, h)
	}
	if r := s.probe("/readyz", 200); r.Status != "ok" || r.Checks != all {
		t.Errorf("GET /readyz = %+v, want ok and the checks %+v", r, all)
	}
	if status, r := s.worker("/readyz"); status != 200 || r.Status != "ok" || r.Checks != jobs {
		t.Errorf("GET /readyz of the worker = %d %+v, want 200, ok and the checks %+v", status, r, jobs)
	}
	for _, path := range []string{"/healthz?cache=1&cache=2", "/readyz?x"} {
		s.call(http.MethodGet, path, "no credential that it would look at", 200, "")
	}
}

func TestReadyzReportsForeignSchema(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	if _, err := s.Database().ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)"); err != nil {
		t.Fatal(err)
	}
	r := s.probe("/readyz", 503)
	if r.Status != "unavailable" || r.Checks.Migrations == "ok" || r.Checks.Database != "ok" {
		t.Errorf("GET /readyz = %+v, want unavailable for the migrations, and the database ok", r)
	}
	s.probe("/healthz", 200)
}

func TestReadyzReportsFailingTasks(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	if _, err := s.Database().ExecContext(t.Context(), "ALTER TABLE guest_session RENAME TO lost"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a failing round", func() bool {
		s.nextRound()
		status, _ := s.worker("/readyz")
		return status == 503
	})
	if _, r := s.worker("/readyz"); r.Status != "unavailable" || r.Checks.Jobs == "ok" || r.Checks.Database != "ok" {
		t.Errorf("GET /readyz of the worker = %+v, want unavailable for the jobs, and the database ok", r)
	}
	if s.OnPostgres() { // calls are not turned away for that
		s.probe("/readyz", 200)
	}
	if _, err := s.Database().ExecContext(t.Context(), "ALTER TABLE lost RENAME TO guest_session"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "recovery", func() bool {
		s.nextRound()
		status, _ := s.worker("/readyz")
		return status == 200
	})
}

// A process without the role api answers probes, and 404 to everything else.
func TestProcessWithoutAPIRoleAnswersOnlyProbes(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	if !s.OnPostgres() {
		return // it has every role
	}
	if status, _ := s.worker("/healthz"); status != 200 {
		t.Errorf("healthz: %d, want 200", status)
	}
	for _, path := range []string{"/api/v1/domains", "/api/v1/mailboxes/me", "/api/v1/openapi.json", "/docs", "/"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Jobs+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Close = true
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		want(t, apptest.Response{Request: apptest.DescribeRequest(r), Status: res.StatusCode, Body: text}, 404, "route.not_found")
	}
}

// An internal error reveals nothing about its cause.
func TestInternalErrorIs500(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	if _, err := s.Database().ExecContext(t.Context(), "DROP TABLE message"); err != nil {
		t.Fatal(err)
	}
	a := s.call(http.MethodGet, "/mailboxes/me/messages", m.Token, 500, "server.internal")
	for _, secret := range []string{"SQL", "table", "sqlite", m.ID} {
		if strings.Contains(string(a.Body), secret) {
			t.Errorf("the response is %s, want no %s in it", a.Body, secret)
		}
	}
	s.Clock.Advance(time.Second)
	s.probe("/healthz", 200)
}
