package blackbox_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// otherPages are requests among ours of web pages at another host or port than the service's. They are local, but a page has to be
// of the service to get a credential without presenting one.
var otherPages = []string{
	"Origin: http://localhost:3000|Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:5173", "Origin: http://[::1]:4200", "Origin: https://ci.example.net|Host: 10.0.0.9:8025",
}

// apis returns the URLs of the API at the public port and at the Mailpit port.
func (m *mailpit) apis() []string { return []string{m.URL, m.base + "/gonebox/api/v1"} }

func TestOnlyTheServicesOwnLocalPagesSignInWithoutAPassword(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, settings{"http.trusted_proxies": "", "dev.hosts": "ci.example.net"})
	token := m.signInLocally(m.URL)
	m.smtp("hello", "", "ada@company.test")
	noCORS := []string{"Origin: https://evil.example|Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Content-Type: text/plain", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: script"}
	for _, base := range m.apis() {
		for _, text := range slices.Concat(foreign, ours, noCORS) {
			status, body := statusOf(t, http.MethodPost, base+"/auth/local", "", text)
			granted := slices.Contains(ours, text) && !slices.Contains(otherPages, text)
			if want := map[bool]int{true: 200, false: 403}[granted]; status != want || strings.Contains(body, "xu_") != granted {
				t.Errorf("POST %s/auth/local with %q: %d %s, want %d, with a token: %t", base, text, status, body, want, granted)
			}
		}
	}
	// The Mailpit port takes nothing from others, whatever they present, and serves them no page and no file.
	for _, text := range slices.Concat(foreign, noCORS) {
		for _, call := range []string{"GET /gonebox/api/v1/me/messages", "DELETE /gonebox/api/v1/me/messages", "GET /theme.js"} {
			method, path, _ := strings.Cut(call, " ")
			if strings.HasPrefix(text, "Sec-Fetch-Site: cross-site") && path == "/theme.js" && !strings.Contains(text, "no-cors") {
				continue // may be a link to it
			}
			if status, body := statusOf(t, method, m.base+path, `{"all": true}`, text+"|Authorization: Bearer "+token); status != 403 && status != 404 {
				t.Errorf("%s with %q: %d %s, want 403, or 404 for what may be a link", call, text, status, body)
			}
		}
		if strings.Contains(text, "Host: ") {
			if status, body := statusOf(t, http.MethodGet, m.base+"/", "", text); status != 403 {
				t.Errorf("GET / of the Mailpit port with %q: %d %s, want 403", text, status, body)
			}
		}
	}
	if list := get[[]summary](m.service, "/me/messages", token); len(list) != 1 || list[0].Subject != "hello" {
		t.Errorf("GET /me/messages after the calls of others: %+v, want the one message", list)
	}
}

// signInLocally returns a token of the account of profile: dev, from the API at a URL.
func (m *mailpit) signInLocally(api string) string {
	m.t.Helper()
	at := &mailpit{service: m.service, base: api}
	a := at.try(http.MethodPost, "/auth/local", "", nil)
	want(m.t, a, 200, "")
	var signedIn struct{ Token string }
	a.Into(m.t, &signedIn)
	return signedIn.Token
}

func TestMailpitPortAloneServesTheInbox(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.smtp("hello", "", "ada@company.test")
	page := m.try(http.MethodGet, "/", "", nil)
	if text := string(page.Body); page.Status != 200 || !strings.Contains(text, `data-page="inbox"`) {
		t.Errorf("GET / of the Mailpit port: %d %s, want the page", page.Status, text)
	}
	for _, attribute := range []string{`src="`, `href="`, `data-file="`} {
		for part := range strings.SplitSeq(string(page.Body), attribute) {
			path, _, _ := strings.Cut(part, `"`)
			if !strings.HasPrefix(path, "/") || path == "/docs" {
				continue
			}
			if a := m.try(http.MethodGet, path, "", nil); a.Status != 200 {
				t.Errorf("GET %s of the Mailpit port: %d, want 200", path, a.Status)
			}
		}
	}
	token := m.signInLocally(m.base + "/gonebox/api/v1")
	list := m.try(http.MethodGet, "/gonebox/api/v1/me/messages?q=subject:hello", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
	if list.Status != 200 || !strings.Contains(string(list.Body), "ada@company.test") {
		t.Errorf("GET /gonebox/api/v1/me/messages of the Mailpit port: %d %s, want the message", list.Status, list.Body)
	}
	if a := m.try(http.MethodGet, "/api/v1/messages", "", nil); !strings.Contains(string(a.Body), "messages_count") {
		t.Errorf("GET /api/v1/messages of the Mailpit port: %d %s, want Mailpit's list", a.Status, a.Body)
	}
}

// Without the profile there is no page at the Mailpit port, and no sign-in without a password.
func TestWithoutProfileDevAPasswordIsNeeded(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"compat.mailpit.addr": "127.0.0.1:0"})
	s.call(http.MethodPost, "/auth/local", "", 403, "access.client_not_allowed")
	m := &mailpit{service: s, base: s.Mailpit}
	if a := m.try(http.MethodPost, "/gonebox/api/v1/auth/local", "", nil); a.Status != 404 {
		t.Errorf("POST /gonebox/api/v1/auth/local of the Mailpit port: %d %s, want 404", a.Status, a.Body)
	}
	if a := m.try(http.MethodGet, "/", "", nil); a.Status != 200 || strings.Contains(string(a.Body), "data-page") {
		t.Errorf("GET / of the Mailpit port: %d %s, want 200 without the page", a.Status, a.Body)
	}
}

func TestLocalSignInSaysWhatIsNotAllowed(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	signIn := func(change func(*http.Request)) apptest.Response {
		return m.do(http.MethodPost, "/auth/local", "", nil, change)
	}
	want(t, signIn(func(*http.Request) {}), 200, "")
	want(t, signIn(func(r *http.Request) { r.Host = "evil.example" }), 403, "access.host_not_allowed")
	want(t, signIn(func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }), 403, "access.origin_not_allowed")
	s := startAccounts(t, settings{"limits.other": "1/1m"})
	s.call(http.MethodPost, "/auth/local", "", 403, "access.client_not_allowed")
	s.call(http.MethodPost, "/auth/local", "", 429, "rate.limited")
}

func TestLocalTokenLivesForAnHour(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	token := m.signInLocally(m.URL)
	for range 3 {
		m.Clock.Advance(19 * time.Minute)
		m.call(http.MethodGet, "/me", token, 200, "")
	}
	m.Clock.Advance(4 * time.Minute)
	m.call(http.MethodGet, "/me", token, 401, "auth.invalid_token")
}

func TestNewPasswordKeepsTheDeveloperKey(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	staff := s.promote(s.account("staff@example.org"))
	want(t, s.Call(http.MethodPost, "/staff/users/dev@gonebox.localhost/password", staff.Token, fields{"password": "another password"}), 200, "")
	eventually(t, "the developer key is valid", func() bool {
		s.Clock.Advance(100 * time.Millisecond)
		return s.Call(http.MethodGet, "/keys/mailboxes", devKey, nil).Status == 200
	})
}
