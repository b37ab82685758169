package blackbox_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// create makes a mailbox, which must succeed.
func (s *service) create(token string, params any) (m mailbox) {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/mailboxes", token, params)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("create: %d %s, want Status %v", a.Status, a.Body, http.StatusCreated)
	}
	a.Into(s.t, &m)
	return m
}

func (m mailbox) box() apptest.Mailbox {
	return apptest.Mailbox{ID: m.ID, Address: m.Address, Token: m.Token}
}

const (
	hour = 3600
	day  = 24 * hour
)

func TestCreateMailboxReturnsMailbox(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for name, params := range map[string]any{"no body": nil, "no parameter": body{}} {
		m := s.create("", params)
		identifier(t, m.ID, "mbx")
		if !regexp.MustCompile(`^[a-z]+-[a-z]+-\d{4}$`).MatchString(m.LocalPart) || m.Domain != "gonebox.localhost" || m.Address != m.LocalPart+"@"+m.Domain {
			t.Errorf("%s: POST /mailboxes = %+v, want a generated name at gonebox.localhost", name, m)
		}
		if m.TTL != hour || !m.CreatedAt.Equal(apptest.Noon()) || !m.ExpiresAt.Equal(apptest.Noon().Add(time.Hour)) {
			t.Errorf("%s: times %+v, want TTL %v, CreatedAt %v and ExpiresAt %v", name, m, hour, apptest.Noon(), apptest.Noon().Add(time.Hour))
		}
		if m.Tier != "free" || m.Source != "guest" || m.MessageCount != 0 || m.UnreadCount != 0 || !strings.HasPrefix(m.Token, "xm_") {
			t.Errorf(`%s: s.create("", params) = %+v, want Tier "free", Source "guest", MessageCount 0, UnreadCount 0 and Token beginning with "xm_"`, name, m)
		}
	}
	m := s.create("", body{"localPart": "a.b_c-9", "domain": "GoneBox.Localhost.", "ttl": 60})
	if m.Address != "a.b_c-9@gonebox.localhost" || m.TTL != 60 {
		t.Errorf("POST /mailboxes for a.b_c-9 at GoneBox.Localhost. = %+v, want a.b_c-9@gonebox.localhost for 60 s", m)
	}
	if m := s.create("", body{"ttl": day}); m.TTL != day {
		t.Errorf("the longest: %+v, want TTL %v", m, day)
	}
}

func TestCreateMailboxRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"mailbox.reserved": "owner"})
	s.create("", body{"localPart": "taken"})
	for _, c := range []struct {
		name    string
		params  body
		status  int
		code    string
		pointer string
	}{
		{"a taken one", body{"localPart": "taken"}, 409, "mailbox.local_part_taken", ""},
		{"reserved", body{"localPart": "postmaster"}, 422, "mailbox.local_part_reserved", ""},
		{"of the CA/Browser Forum", body{"localPart": "administrator"}, 422, "mailbox.local_part_reserved", ""},
		{"like a reserved one", body{"localPart": "no-reply"}, 422, "mailbox.local_part_reserved", ""},
		{"with a digit for a letter", body{"localPart": "h0stmaster"}, 422, "mailbox.local_part_reserved", ""},
		{"reserved with a dot behind it", body{"localPart": "hostmaster."}, 422, "request.invalid", "/localPart"},
		{"two dots in a row", body{"localPart": "ann..bea"}, 422, "request.invalid", "/localPart"},
		{"reserved by the operator", body{"localPart": "owner"}, 422, "mailbox.local_part_reserved", ""},
		{"upper case", body{"localPart": "Ann"}, 422, "request.invalid", "/localPart"},
		{"empty", body{"localPart": ""}, 422, "request.invalid", "/localPart"},
		{"65 characters", body{"localPart": strings.Repeat("a", 65)}, 422, "request.invalid", "/localPart"},
		{"a line end behind it", body{"localPart": "ann\n"}, 422, "request.invalid", "/localPart"},
		{"a tag", body{"localPart": "ann+tag"}, 422, "request.invalid", "/localPart"},
		{"an unknown domain", body{"domain": "example.org"}, 422, "mailbox.domain_unavailable", ""},
		{"no domain name", body{"domain": "not a name"}, 422, "mailbox.domain_unavailable", ""},
		{"a ttl of 59", body{"ttl": 59}, 422, "request.invalid", "/ttl"},
		{"a ttl of 0", body{"ttl": 0}, 422, "request.invalid", "/ttl"},
		{"half seconds", body{"ttl": 60.5}, 422, "request.invalid", "/ttl"},
		{"a second above the maximum", body{"ttl": day + 1}, 422, "mailbox.ttl_too_long", ""},
		{"a ttl beyond every duration", body{"ttl": int64(1) << 62}, 422, "mailbox.ttl_too_long", ""},
		{"a ttl beyond every integer", body{"ttl": 1e300}, 422, "request.invalid", "/ttl"},
		{"a misspelt field", body{"localpart": "ann"}, 422, "request.invalid", "/localpart"},
	} {
		a := s.Call(http.MethodPost, "/mailboxes", "", c.params)
		if a.Status != c.status || a.Code() != c.code {
			t.Errorf("%s: POST /mailboxes = %d %s, want %d %s", c.name, a.Status, a.Body, c.status, c.code)
		}
		if p := problemOf(t, a); c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: errors %v, want %s", c.name, p.Errors, c.pointer)
		}
	}
	if p := problemOf(t, s.Call(http.MethodPost, "/mailboxes", "", body{"ttl": day + 1})); !strings.Contains(p.Detail, "86400") {
		t.Errorf("POST /mailboxes with a TTL beyond the maximum: the detail is %q, want 86400 in it", p.Detail)
	}
	if m := s.create("", body{"localPart": strings.Repeat("a", 64)}); len(m.LocalPart) != 64 {
		t.Errorf("POST /mailboxes with a local part of 64 characters = %+v, want it whole", m)
	}
}

// An international domain is accepted in either form.
func TestCreateMailboxOnAnInternationalDomain(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"domains": "xn--bcher-kva.example"})
	for _, name := range []string{"bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "XN--BCHER-KVA.EXAMPLE."} {
		if m := s.create("", body{"domain": name}); m.Domain != "xn--bcher-kva.example" {
			t.Errorf("POST /mailboxes at %s = %+v, want it at xn--bcher-kva.example", name, m)
		}
	}
}

func TestEndedAddressCoolsDown(t *testing.T) {
	t.Parallel()
	destroy := func(s *service, m mailbox) { s.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "") }
	expire := func(s *service, _ mailbox) { s.Clock.Advance(time.Hour) }
	for name, end := range map[string]func(*service, mailbox){
		"destroyed": destroy, "destroyed and erased": func(s *service, m mailbox) { destroy(s, m); s.erased(m) },
		"expired": expire, "expired and erased": func(s *service, m mailbox) { expire(s, m); s.erased(m) },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			params := body{"localPart": "ann"}
			m := s.create("", params)
			end(s, m)
			ended := min(s.Clock.Now().Unix(), m.ExpiresAt.Unix())
			if strings.HasPrefix(name, "destroyed") {
				ended = m.CreatedAt.Unix()
			}
			want(t, s.Call(http.MethodPost, "/mailboxes", "", params), 409, "mailbox.local_part_taken")
			free := time.Unix(ended, 0).Add(30 * day * time.Second)
			s.Clock.Advance(free.Sub(s.Clock.Now()) - time.Second)
			want(t, s.Call(http.MethodPost, "/mailboxes", "", params), 409, "mailbox.local_part_taken")
			s.Clock.Advance(time.Second)
			s.create("", params)
		})
	}
}

func TestWithoutCoolDownEndedAddressIsFree(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"mailbox.address_cooldown": "0s"})
	old := s.create("", body{"localPart": "ann"})
	s.mail(old.box(), apptest.Mail{Subject: "private", Text: "for the first owner"})
	s.call(http.MethodDelete, "/mailboxes/me", old.Token, 204, "")
	heir := s.create("", body{"localPart": "ann"})
	if got := get[[]summary](s, "/mailboxes/me/messages", heir.Token); len(got) != 0 {
		t.Errorf("GET /mailboxes/me/messages of the next owner = %v, want none of the former one's", got)
	}
	s.call(http.MethodGet, "/mailboxes/me", old.Token, 401, "auth.invalid_token")
}

func TestGetMailboxCountsDown(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	s.Clock.Advance(10*time.Minute + 300*time.Millisecond)
	got := get[mailbox](s, "/mailboxes/me", m.Token)
	if got.TTL != 50*60 || got.Token != "" { // a second that has begun is left
		t.Errorf("GET /mailboxes/me = %+v, want %d s left, and no token", got, 50*60)
	}
	got.TTL, got.Token = m.TTL, m.Token
	if got != m {
		t.Errorf("GET /mailboxes/me = %+v, want %+v as created", got, m)
	}
}

// How a mailbox that has expired, one that was destroyed and an unknown token are answered
// (docs/spec/mailboxes.md#ending).
func TestEndedMailboxes(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	read := s.create("", nil)
	id := s.mail(read.box(), apptest.Mail{Subject: "Sign in", Text: "Your verification code is 482913."}).ID
	destroyed := s.create("", nil)
	s.call(http.MethodDelete, "/mailboxes/me", destroyed.Token, 204, "")
	s.Clock.Advance(time.Hour)

	expired := map[string]string{
		"GET /mailboxes/me": "410 mailbox.expired", "POST /mailboxes/me/extend": "410 mailbox.expired",
		"GET /mailboxes/me/messages": "410 mailbox.expired", "GET /mailboxes/me/messages?wait=60": "410 mailbox.expired",
		"GET /messages/" + id: "404 message.not_found", "DELETE /messages/" + id: "404 message.not_found",
		"GET /messages/" + id + "/raw":                                        "410 mailbox.expired",
		"GET /messages/" + id + "/attachments/att_01m7zmcdrqfe4t1d2x0gmbspgh": "404 message.not_found",
		"GET /mailboxes/me/otp/latest":                                        "404 otp.not_found",
		"DELETE /mailboxes/me":                                                "401 auth.invalid_token",
	}
	check := func(when, token string, wanted map[string]string) {
		t.Helper()
		for call, answer := range wanted {
			method, path, _ := strings.Cut(call, " ")
			a := s.Call(method, path, token, nil)
			if got := fmt.Sprint(a.Status, " ", a.Code()); got != answer {
				t.Errorf("%s: %s: %s, want %s", when, call, got, answer)
			}
		}
	}
	check("just expired", read.Token, expired)
	s.erased(read)
	check("expired and erased", read.Token, expired)

	invalid := maps.Clone(expired)
	for call := range invalid {
		invalid[call] = "401 auth.invalid_token"
	}
	again := s.create("", nil)
	s.call(http.MethodDelete, "/mailboxes/me", again.Token, 204, "")
	check("destroyed", again.Token, invalid)
	s.erased(again)
	check("destroyed and erased", again.Token, invalid)
}

// In the fraction of a second by which the mailbox outlives its token, the token is still valid.
func TestTokenIsValidUntilExpiry(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.Clock.Advance(600 * time.Millisecond)
	m := s.create("", body{"ttl": 60})
	s.Clock.Advance(time.Minute - time.Millisecond)
	s.call(http.MethodGet, "/mailboxes/me", m.Token, 200, "")
	s.Clock.Advance(time.Millisecond)
	s.call(http.MethodGet, "/mailboxes/me", m.Token, 410, "mailbox.expired")
}

func TestListDomains(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"domains": "b.example, a.example"})
	type domain struct {
		Domain  string
		Default bool
	}
	got := get[[]domain](s, "/domains", "")
	if len(got) != 2 || got[0] != (domain{"b.example", true}) || got[1] != (domain{"a.example", false}) {
		t.Errorf("GET /domains = %+v, want b.example as the default, and a.example", got)
	}
	if m := s.create("", nil); m.Domain != "b.example" {
		t.Errorf(`s.create("", nil) = %+v, want Domain "b.example"`, m)
	}
	if m := s.create("", body{"domain": "a.example"}); m.Domain != "a.example" {
		t.Errorf("POST /mailboxes at a.example = %+v, want it there", m)
	}
}
