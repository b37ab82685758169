package blackbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestChangedPasswordEndsOtherSessions(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	key := s.key(u, nil)
	_, second := s.signIn("ada@example.org", userPassword, "")
	change := func(current, password string) apptest.Response {
		return s.Call(http.MethodPost, "/me/password", u.Token, fields{"current": current, "password": password})
	}
	waiting := make(chan apptest.Response, 1)
	go func() {
		a, _ := s.TryCall(t.Context(), http.MethodGet, "/me/messages?wait=60", second, nil)
		waiting <- a
	}()
	eventually(t, "a waiting call", func() bool { return s.Sleepers() == 1 })
	want(t, change("wrong password", "another password"), 422, "account.password_wrong")
	want(t, change(userPassword, "short"), 422, "request.invalid")
	want(t, s.Call(http.MethodGet, "/me", second, nil), 200, "")
	want(t, change(userPassword, "another password"), 204, "")
	want(t, s.Call(http.MethodGet, "/me", u.Token, nil), 200, "")
	want(t, s.Call(http.MethodGet, "/me", second, nil), 401, "auth.invalid_token")
	s.Clock.Advance(1e9)
	want(t, <-waiting, 401, "auth.invalid_token")
	want(t, s.Call(http.MethodGet, "/keys/mailboxes", key.Key, nil), 200, "")
	if a, _ := s.signIn("ada@example.org", userPassword, ""); a.Status != 401 {
		t.Errorf("sign in with the old password: got %d %s, want 401", a.Status, a.Body)
	}
	if a, _ := s.signIn("ada@example.org", "another password", ""); a.Status != 200 {
		t.Errorf("sign in with the new password: got %d %s, want 200", a.Status, a.Body)
	}
}

// userSession is a session as its owner sees it.
type userSession struct {
	ID, Address, UserAgent           string
	CreatedAt, LastUsedAt, ExpiresAt time.Time
	Current                          bool
}

// anotherSession signs in once more and returns the session.
func (e *accountFixture) anotherSession() string {
	e.t.Helper()
	_, token := e.signIn(e.email, userPassword, "")
	for _, s := range get[[]userSession](e.service, "/me/sessions", token) {
		if s.Current {
			return s.ID
		}
	}
	e.t.Fatal("GET /me/sessions: got no current session, want that of the call")
	return ""
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	other := s.account("eve@example.org")
	s.Clock.Advance(time.Minute)
	_, second := s.signIn("ada@example.org", userPassword, "")
	s.Clock.Advance(time.Minute)
	_, third := s.signIn("ada@example.org", userPassword, "")
	list := func(token string) []userSession { return get[[]userSession](s, "/me/sessions", token) }
	all := list(second)
	if len(all) != 3 || all[0].Current || !all[1].Current || all[2].Current || all[1].Address != "127.0.0.1" || all[1].UserAgent == "" {
		t.Fatalf("GET /me/sessions with the second of three = %+v, want three, the second current, from 127.0.0.1", all)
	}
	if now := s.Clock.Now(); !all[1].LastUsedAt.Equal(now) || !all[2].LastUsedAt.Equal(apptest.Noon()) || !all[2].CreatedAt.Equal(apptest.Noon()) {
		t.Errorf("GET /me/sessions = %+v, want the second used now (%s) and the first at noon", all, now)
	}
	if page := s.Call(http.MethodGet, "/me/sessions?limit=2", second, nil); !strings.Contains(string(page.Body), `"nextCursor":"`) {
		t.Errorf("GET /me/sessions?limit=2 = %s, want a nextCursor", page.Body)
	}
	want(t, s.Call(http.MethodDelete, "/me/sessions/"+all[0].ID, other.Token, nil), 404, "session.not_found")
	want(t, s.Call(http.MethodDelete, "/me/sessions/x", second, nil), 404, "session.not_found")
	waiting := make(chan apptest.Response, 1)
	go func() {
		a, _ := s.TryCall(t.Context(), http.MethodGet, "/me/messages?wait=60", third, nil)
		waiting <- a
	}()
	eventually(t, "a waiting call", func() bool { return s.Sleepers() == 1 })
	want(t, s.Call(http.MethodDelete, "/me/sessions/"+all[0].ID, second, nil), 204, "")
	s.Clock.Advance(time.Second)
	want(t, <-waiting, 401, "auth.invalid_token")
	want(t, s.Call(http.MethodDelete, "/me/sessions/"+all[0].ID, second, nil), 404, "session.not_found")
	want(t, s.Call(http.MethodDelete, "/me/sessions", second, nil), 204, "")
	if left := list(second); len(left) != 1 || !left[0].Current {
		t.Errorf("GET /me/sessions after ending the others = %+v, want the current one", left)
	}
	want(t, s.Call(http.MethodGet, "/me", u.Token, nil), 401, "auth.invalid_token")
	want(t, s.Call(http.MethodGet, "/me", other.Token, nil), 200, "")
}

func TestBodiesQueriesAndLimitsOfCredentials(t *testing.T) {
	t.Parallel()
	f := startRelay(t, settings{"http.body_max": "1KiB", "limits.other": "60/1m", "limits.signin": "3/5m", "limits.signin_address": "20/5m"})
	u := f.account("ada@example.org")
	box := f.create(u.Token, nil)
	m := f.received(box, listMail)
	elsewhere := f.key(u, fields{"allowedCidrs": []string{"203.0.113.0/24"}})
	f.call(http.MethodPost, "/messages/"+m.ID+"/release", elsewhere.Key, 403, "auth.address_not_allowed")
	fill := strings.NewReplacer("{id}", m.ID)
	paths := []string{"=/me/password", "=/me/email", "/me/email", "=/me/sessions", "/me/sessions", "=/me/export", "=/access", "=/messages/{id}/release"}
	for _, call := range answersOf(paths...) {
		words := strings.Fields(call)
		method, path := words[0], fill.Replace(words[1])
		switch {
		case words[2] == "413":
			want(t, f.Call(method, path, u.Token, append([]byte(`{"code":"1`), make([]byte, 2000)...)), 413, "request.too_large")
		case words[2] == "415":
			a := f.do(method, path, u.Token, fields{}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			want(t, a, 415, "request.media_type")
		case words[2] == "422" && words[3] == "request.invalid":
			f.call(method, path+"?no=1", u.Token, 422, "request.invalid")
		case words[2] == "401" && words[3] == "auth.required":
			f.call(method, path, "", 401, "auth.required")
			f.call(method, path, mistyped(u.Token), 401, "auth.invalid_token")
		}
	}
	for range 4 {
		f.Call(http.MethodDelete, "/me", u.Token, fields{"password": "wrong password"})
	}
	want(t, f.Call(http.MethodDelete, "/me", u.Token, fields{"password": userPassword}), 429, "rate.limited")
	for range 20 {
		f.Call(http.MethodPost, "/auth/password/forgot", "", fields{"email": "nobody@example.org"})
	}
	want(t, f.Call(http.MethodPost, "/auth/password/forgot", "", fields{"email": "nobody@example.org"}), 429, "rate.limited")
	for range 60 {
		f.Call(http.MethodGet, "/me", u.Token, nil)
		f.Call(http.MethodGet, "/access", "", nil)
	}
	for _, call := range []string{
		"GET /me/sessions", "DELETE /me/sessions", "DELETE /me/sessions/x", "GET /me/export", "POST /me/email/confirm", "POST /messages/" + m.ID + "/release",
	} {
		method, path, _ := strings.Cut(call, " ")
		f.call(method, path, u.Token, 429, "rate.limited")
	}
	f.call(http.MethodGet, "/access", "", 429, "rate.limited")
	f.call(http.MethodPost, "/auth/password/reset", "", 429, "rate.limited")
}

// Where the operator asks for it, staff may do nothing before two-factor authentication is active.
func TestStaffNeedTwoFactorWhereRequired(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"access.staff_two_factor": "required"})
	staff := s.promote(s.account("staff@example.org"))
	fill := strings.NewReplacer("{user}", "staff@example.org", "{domain}", "a.example", "{id}", "1", "{key}", "a", "{address}", "a@a.example")
	for _, call := range operationsOf("/staff") {
		method, path, _ := strings.Cut(call, " ")
		s.call(method, fill.Replace(path), staff.Token, 403, "auth.two_factor_missing")
	}
	s.twoFactor(staff.Token)
	s.call(http.MethodGet, "/staff/users", staff.Token, 200, "")
}
