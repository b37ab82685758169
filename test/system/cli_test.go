package system_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestStartLogsAddresses(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"domains": "box.example.org"}})
	_, smtpPort, _ := net.SplitHostPort(s.smtp)
	said := s.greeting()
	for _, want := range []string{s.url, "http://" + s.http + "/docs", smtpPort, "box.example.org", s.dir} {
		if !strings.Contains(said, want) {
			t.Errorf("the greeting is\n%s\nwant %q in it", said, want)
		}
	}
	_, try, found := strings.Cut(said, "Try: ")
	if !found || strings.TrimSpace(try) != "curl -X POST "+s.url+"/mailboxes" {
		t.Errorf("the next command in the greeting is %q, want one that begins with %s", try, "curl -X POST "+s.url+"/mailboxes")
	}
	status, _ := s.call(http.MethodPost, "/mailboxes", "", nil)
	if status != http.StatusCreated {
		t.Errorf("POST /mailboxes, the next command, answers %d, want 201", status)
	}
}

// offers reports whether new mailboxes can be made in a domain.
func (a api) offers(domain string) bool {
	a.t.Helper()
	return strings.Contains(string(a.get("/domains", "")), `"`+domain+`"`)
}
