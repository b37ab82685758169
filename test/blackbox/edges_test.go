package blackbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// TestBodiesQueriesAndLimitsOfTesting calls the operations that suites of tests use, projects, faults, transcripts, parts and counts, with
// what each of them refuses, whatever it does.
func TestBodiesQueriesAndLimitsOfTesting(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{
		"http.body_max": "1KiB", "http.large_body_max": "1KiB", "smtp.projects": "on",
		"limits.other": "200/1m", "limits.reads": "100/1m", "plans.free.keys.calls": "100/1m", "plans.free.keys.max": "3", "plans.free.projects.max": "3",
	})
	u := s.account("ada@example.org")
	k, bound := s.key(u, nil), s.key(u, fields{"allowedCidrs": []string{"203.0.113.0/24"}})
	box := s.create(u.Token, nil)
	s.Send(apptest.Mail{To: []string{box.Address}})
	message := get[[]summary](s, "/mailboxes/me/messages", box.Token)[0].ID
	made := func(path string, params fields) string {
		t.Helper()
		a := s.Call(http.MethodPost, path, u.Token, params)
		want(t, a, 201, "")
		var object struct{ ID string }
		a.Into(t, &object)
		return object.ID
	}
	project := made("/me/projects", fields{"name": "shop"})
	rule := fields{"stage": "rcpt", "from": "nobody@*", "reply": "451 a"}
	fault := made("/me/faults", rule)
	fill := func(path string) string {
		object := project
		if strings.Contains(path, "/faults/") {
			object = fault
		}
		if strings.HasPrefix(path, "/messages/") {
			object = message
		}
		return strings.NewReplacer("{id}", object, "{partId}", "0", "{email}", "bob@example.org").Replace(path)
	}
	answers := answersOf("/me/projects", "/keys/projects", "/me/faults", "/keys/faults", "=/me/transcripts", "=/keys/transcripts",
		"=/me/messages/count", "=/keys/messages/count", "=/messages/{id}/parts", "=/messages/{id}/parts/{partId}", "=/messages/{id}/transcript")
	credential := func(path string) string {
		if strings.HasPrefix(path, "/keys") {
			return k.Key
		}
		return u.Token
	}
	for _, answer := range answers {
		words := strings.Fields(answer)
		method, path := words[0], fill(words[1])
		switch words[2] + " " + strings.Join(words[3:], " ") {
		case "413 request.too_large":
			want(t, s.Call(method, path, credential(path), append([]byte(`{"name":"`), make([]byte, 2000)...)), 413, "request.too_large")
		case "415 request.media_type":
			a := s.do(method, path, credential(path), fields{}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			want(t, a, 415, "request.media_type")
		case "422 request.invalid":
			s.call(method, path+"?no=1", credential(path), 422, "request.invalid")
		case "403 auth.address_not_allowed":
			s.call(method, path, bound.Key, 403, "auth.address_not_allowed")
		}
	}
	for range 99 {
		made("/me/faults", rule)
	}
	want(t, s.Call(http.MethodPost, "/me/faults", u.Token, rule), 409, "fault.limit_reached")
	for _, path := range []string{"/me/projects", "/keys/projects", "/messages/" + message + "/transcript"} {
		s.throttled(http.MethodGet, path, credential(path))
	}
	for _, answer := range answers {
		if words := strings.Fields(answer); words[2] == "429" {
			s.throttled(words[0], fill(words[1]), credential(words[1]))
		}
	}
}
