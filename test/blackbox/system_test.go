package blackbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

type readiness struct {
	Status string
	Checks struct{ Database, Migrations, SMTP, Jobs string }
}

// probe is a probe's answer below the base path; that at the root must be the same.
func (s *service) probe(path string, status int) (r readiness) {
	s.t.Helper()
	a := s.call(http.MethodGet, path, "", status, "")
	root := s.do(http.MethodGet, path, "", nil, func(r *http.Request) { r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v1") })
	if root.Status != status || string(root.Body) != string(a.Body) {
		s.t.Errorf("at the root: %d %s, below the base path %s", root.Status, root.Body, a.Body)
	}
	a.Into(s.t, &r)
	return r
}

func TestProbesOfAHealthyService(t *testing.T) {
	s := start(t, nil)
	if h := s.probe("/healthz", 200); h.Status != "ok" {
		t.Errorf("%+v", h)
	}
	if r := s.probe("/readyz", 200); r.Status != "ok" || r.Checks != (struct{ Database, Migrations, SMTP, Jobs string }{"ok", "ok", "ok", "ok"}) {
		t.Errorf("%+v", r)
	}
	for _, path := range []string{"/healthz?cache=1&cache=2", "/readyz?x"} {
		s.call(http.MethodGet, path, "no credential that it would look at", 200, "")
	}
}

func TestReadyzTellsThatTheTablesAreAnothers(t *testing.T) {
	s := start(t, nil)
	if _, err := s.Database().ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)"); err != nil {
		t.Fatal(err)
	}
	r := s.probe("/readyz", 503)
	if r.Status != "unavailable" || r.Checks.Migrations == "ok" || r.Checks.Database != "ok" {
		t.Errorf("%+v", r)
	}
	s.probe("/healthz", 200)
}

func TestReadyzTellsThatScheduledWorkFails(t *testing.T) {
	s := start(t, nil)
	if _, err := s.Database().ExecContext(t.Context(), "ALTER TABLE guest_session RENAME TO lost"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a failing round", func() bool {
		s.nextRound()
		return s.Call(http.MethodGet, "/readyz", "", nil).Status == 503
	})
	if r := s.probe("/readyz", 503); r.Checks.Jobs == "ok" || r.Checks.Database != "ok" {
		t.Errorf("%+v", r)
	}
	if _, err := s.Database().ExecContext(t.Context(), "ALTER TABLE lost RENAME TO guest_session"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "recovery", func() bool {
		s.nextRound()
		return s.Call(http.MethodGet, "/readyz", "", nil).Status == 200
	})
}

// What is our own fault is said without telling anything of the inside.
func TestAFaultOfOursIsA500(t *testing.T) {
	s := start(t, nil)
	m := s.create("", nil)
	if _, err := s.Database().ExecContext(t.Context(), "DROP TABLE message"); err != nil {
		t.Fatal(err)
	}
	a := s.call(http.MethodGet, "/mailboxes/me/messages", m.Token, 500, "server.internal")
	for _, secret := range []string{"SQL", "table", "sqlite", m.ID} {
		if strings.Contains(string(a.Body), secret) {
			t.Errorf("%s tells of %s", a.Body, secret)
		}
	}
	s.Clock.Advance(time.Second)
	s.probe("/healthz", 200)
}
