package blackbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// Staff cannot add a domain at which no mail can be received, and can remove what they have added once its mailboxes have ended.
func TestStaffAddAndRemoveDomains(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	s, staff := w.service, w.promote(w.ada)
	for name, reason := range map[string]string{
		"nodot": "single label", "com": "single label", "co.uk": "public suffix", "github.io": "public suffix", "1.2.3.4": "IP address",
		"[2001:db8::1]": "IP address", "user@extra.gonebox-tests.org": "mail address", "http://extra.gonebox-tests.org": "URL",
		"*.gonebox-tests.org": "wildcard", "a_b.gonebox-tests.org": "underscore", "extra.gonebox-tests.org:25": "port", "extra..org": "empty label",
	} {
		a := s.Call(http.MethodPost, "/staff/domains", staff.Token, fields{"domain": name})
		want(t, a, 422, "request.invalid")
		if !strings.Contains(string(a.Body), reason) {
			t.Errorf("POST /staff/domains with %q: %s, want a reason with %q", name, a.Body, reason)
		}
	}
	listed := func(name string) bool {
		return strings.Contains(string(s.call(http.MethodGet, "/staff/domains", staff.Token, 200, "").Body), `"`+name+`"`)
	}
	const extra = "extra.gonebox-tests.org"
	want(t, s.Call(http.MethodPost, "/staff/domains", staff.Token, fields{"domain": extra}), 201, "")
	var box apptest.Response
	eventually(t, "a mailbox in the domain", func() bool { // by whichever process answers
		box = s.Call(http.MethodPost, "/mailboxes", "", fields{"domain": extra})
		return box.Status == 201
	})
	var made struct{ Token string }
	box.Into(t, &made)
	s.call(http.MethodDelete, "/staff/domains/"+extra+"?remove=true", staff.Token, 409, "domain.in_use")
	s.call(http.MethodDelete, "/mailboxes/me", made.Token, 204, "")
	s.call(http.MethodDelete, "/staff/domains/"+extra+"?remove=true", staff.Token, 204, "")
	s.call(http.MethodDelete, "/staff/domains/"+extra+"?remove=true", staff.Token, 404, "domain.not_found")
	eventually(t, "the removal of "+extra, func() bool { return !listed(extra) })
	configured := get[[]struct{ Domain string }](s, "/domains", "")[0].Domain
	s.call(http.MethodDelete, "/staff/domains/"+configured+"?remove=true", staff.Token, 409, "domain.configured")

	// A name that is not valid any more can be removed too.
	for _, name := range []string{"nodot", "com", "1.2.3.4", "a_b.example.org"} {
		if _, err := s.Database().ExecContext(t.Context(), "INSERT INTO public_domain (name, active, created_at) VALUES ($1, 1, 1)", name); err != nil {
			t.Fatal(err)
		}
		s.call(http.MethodDelete, "/staff/domains/"+name+"?remove=true", staff.Token, 204, "")
		eventually(t, "the removal of "+name, func() bool { return !listed(name) })
	}
	if log := string(s.call(http.MethodGet, "/staff/audit", staff.Token, 200, "").Body); !strings.Contains(log, `"domain.remove"`) {
		t.Errorf(`GET /staff/audit has no domain.remove: %s, want "\"domain.remove\"" in it`, log)
	}
}
