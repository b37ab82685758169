package blackbox_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/token"
)

// Every call with every kind of credential: only its own opens it, and an invalid credential never counts as none.
func TestCredentialsAreNotInterchangeable(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m, key := s.create("", nil), s.startSession().Key
	developer, _, _ := token.MintDeveloper()
	user, _ := token.MintSecret(token.User)
	foreignGuest, _ := token.MintSecret(token.Guest)
	foreignMailbox := start(t, nil).create("", nil).Token // another service's, signed by another key
	credentials := map[string]string{
		"none": "", "mailbox": m.Token, "guest": key, "user": user, "developer": developer, "another guest": foreignGuest,
		"another service": foreignMailbox, "garbage": "garbage", "mistyped mailbox": mistyped(m.Token), "mistyped guest": mistyped(key),
		"cut": m.Token[:len(m.Token)-1], "with more": m.Token + "A", "prefix only": "xm_", "spaces": m.Token + " " + m.Token,
	}
	opens := map[string]string{ // which credential opens a call; "": it is public
		"GET /domains": "", "GET /healthz": "", "GET /readyz": "", "POST /session": "",
		"POST /mailboxes":   "none guest",
		"GET /mailboxes/me": "mailbox", "POST /mailboxes/me/extend": "mailbox", "GET /mailboxes/me/messages": "mailbox",
		"GET /mailboxes/me/otp/latest": "mailbox", "GET /messages/x": "mailbox", "DELETE /messages/x": "mailbox",
		"GET /messages/x/raw": "mailbox", "GET /messages/x/checks": "mailbox", "GET /messages/x/parts": "mailbox", "GET /messages/x/parts/0": "mailbox", "GET /messages/x/attachments/y": "mailbox", "GET /session": "guest",
		"DELETE /mailboxes/me": "mailbox", "DELETE /session": "guest",
	}
	calls := make([]string, 0, len(opens))
	for call := range opens {
		calls = append(calls, call)
	}
	slices.SortFunc(calls, func(a, b string) int { // what ends the credentials comes last
		return strings.Compare(lastIfItEnds(a), lastIfItEnds(b))
	})
	for _, call := range calls {
		method, path, _ := strings.Cut(call, " ")
		for _, name := range slices.Sorted(maps.Keys(credentials)) {
			if lastIfItEnds(call) != call && slices.Contains(strings.Fields(opens[call]), name) {
				continue // below
			}
			a := s.Call(method, path, credentials[name], nil)
			switch open := opens[call] == "" || slices.Contains(strings.Fields(opens[call]), name); {
			case open && a.Status == http.StatusUnauthorized:
				t.Errorf("%s with %s: %d %s, want the credential accepted", call, name, a.Status, a.Body)
			case !open && name == "none":
				want(t, a, 401, "auth.required")
			case !open:
				want(t, a, 401, "auth.invalid_token")
			}
		}
	}
	s.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "")
	s.call(http.MethodDelete, "/session", key, 204, "")
}

// lastIfItEnds is the sort key of a call.
func lastIfItEnds(call string) string {
	if call == "DELETE /mailboxes/me" || call == "DELETE /session" {
		return "~" + call
	}
	return call
}

// mistyped changes one character.
func mistyped(credential string) string {
	at := len(credential) - 3
	swap := "A"
	if credential[at] == 'A' {
		swap = "B"
	}
	return credential[:at] + swap + credential[at+1:]
}

// How a credential is presented (docs/spec/conventions.md#credentials): case, other schemes, other headers.
func TestCredentialHeader(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	developer, _, _ := token.MintDeveloper()
	with := func(path, name string, values ...string) apptest.Response {
		method := http.MethodGet
		if path == "/mailboxes" {
			method = http.MethodPost
		}
		return s.do(method, path, "", nil, func(r *http.Request) { r.Header[name] = values })
	}
	for _, good := range []string{"Bearer " + m.Token, "bearer " + m.Token, "BEARER   " + m.Token} {
		want(t, with("/mailboxes/me", "Authorization", good), 200, "")
	}
	for _, bad := range []string{m.Token, "Basic " + m.Token, "Bearer", "Bearer\t" + m.Token, "Apikey " + m.Token, "Bearer " + m.Token + ", Bearer " + m.Token} {
		want(t, with("/mailboxes/me", "Authorization", bad), 401, "auth.invalid_token")
	}
	want(t, with("/mailboxes/me", "X-Api-Key", m.Token), 401, "auth.invalid_token")
	want(t, with("/mailboxes/me", "X-Api-Key", developer), 401, "auth.invalid_token")
	// A public call with an invalid credential is refused.
	for _, bad := range []string{"Basic dXNlcjpwYXNz", "Bearer", "Bearer xg_"} {
		want(t, with("/mailboxes", "Authorization", bad), 401, "auth.invalid_token")
	}
	want(t, with("/mailboxes", "X-Api-Key", "x_"), 401, "auth.invalid_token")
	want(t, with("/domains", "Authorization", "Basic dXNlcjpwYXNz"), 200, "")
	if a := with("/mailboxes/me", "Authorization", "Bearer "+mistyped(m.Token)); strings.Contains(string(a.Body), m.Token[:20]) {
		t.Errorf("the response to a mistyped credential is %s, want it not repeated", a.Body)
	}
}
