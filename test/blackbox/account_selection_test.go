package blackbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// count makes a change of many messages and returns the count in its response.
func (s *service) count(method string, u user, body fields) int {
	s.t.Helper()
	a := s.Call(method, "/me/messages", u.Token, body)
	want(s.t, a, 200, "")
	var got struct{ Count int }
	a.Into(s.t, &got)
	return got.Count
}

func TestSelectionsChangeMessages(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u, bob := s.account("ada@example.org"), s.account("bob@example.org")
	one, two, others := s.create(u.Token, nil), s.create(u.Token, nil), s.create(bob.Token, nil)
	byName := make(map[string]string)
	for i, box := range []mailbox{one, two, one, two, others} {
		name := fmt.Sprint("m", i)
		byName[name] = s.mail(box.box(), apptest.Mail{Subject: name, Text: []string{"even", "odd"}[i%2]}).ID
	}
	check := func(what string, got, count int, list, unread string) {
		t.Helper()
		if got != count {
			t.Errorf("%s: count %d, want %d", what, got, count)
		}
		if got := subjects(get[[]summary](s, "/me/messages", u.Token)); got != list {
			t.Errorf("%s: the list is %s, want %s", what, got, list)
		}
		if got := subjects(get[[]summary](s, "/me/messages?unseen=true", u.Token)); got != unread {
			t.Errorf("%s: unread are %s, want %s", what, got, unread)
		}
	}
	foreign := []string{byName["m4"], "x", "msg_" + strings.Repeat("0", 26), byName["m0"][:20]}
	check("mark by ids", s.count(http.MethodPatch, u, fields{"ids": append(foreign, byName["m0"], byName["m3"], byName["m0"]), "seen": true}), 2, "m3 m2 m1 m0", "m2 m1")
	check("mark again", s.count(http.MethodPatch, u, fields{"ids": []string{byName["m0"], byName["m1"]}, "seen": true}), 2, "m3 m2 m1 m0", "m2")
	check("mark by search", s.count(http.MethodPatch, u, fields{"q": "even", "seen": false}), 2, "m3 m2 m1 m0", "m2 m0")
	check("mark what is unread", s.count(http.MethodPatch, u, fields{"q": "is:unread", "seen": true}), 2, "m3 m2 m1 m0", "")
	check("mark all", s.count(http.MethodPatch, u, fields{"all": true, "seen": false}), 4, "m3 m2 m1 m0", "m3 m2 m1 m0")
	if m := get[mailbox](s, "/mailboxes/me", one.Token); m.MessageCount != 2 || m.UnreadCount != 2 {
		t.Errorf("GET /mailboxes/me after marking: %d messages, %d unread, want 2 and 2", m.MessageCount, m.UnreadCount)
	}
	check("delete by ids", s.count(http.MethodDelete, u, fields{"ids": append(foreign, byName["m1"])}), 1, "m3 m2 m0", "m3 m2 m0")
	check("delete by search", s.count(http.MethodDelete, u, fields{"q": "subject:m2"}), 1, "m3 m0", "m3 m0")
	check("delete none", s.count(http.MethodDelete, u, fields{"ids": []string{}}), 0, "m3 m0", "m3 m0")
	check("delete what is not there", s.count(http.MethodDelete, u, fields{"q": "zzz"}), 0, "m3 m0", "m3 m0")
	check("delete all", s.count(http.MethodDelete, u, fields{"all": true}), 2, "", "")
	check("delete nothing", s.count(http.MethodDelete, u, fields{"all": true}), 0, "", "")
	if m := get[mailbox](s, "/mailboxes/me", two.Token); m.MessageCount != 0 || m.UnreadCount != 0 {
		t.Errorf("GET /mailboxes/me after deleting: %d messages, %d unread, want none", m.MessageCount, m.UnreadCount)
	}
	if got := subjects(get[[]summary](s, "/me/messages", bob.Token)); got != "m4" {
		t.Errorf("the list of another account is %s, want m4", got)
	}
}

func TestSelectionsAreChecked(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	box := s.create(u.Token, nil)
	s.post(box, "hello")
	many := make([]string, 1001)
	for i := range many {
		many[i] = "msg_" + strings.Repeat("0", 26)
	}
	for _, body := range []fields{
		{},
		{"all": false},
		{"all": true, "q": "hello"},
		{"ids": []string{}, "q": "hello"},
		{"ids": []string{}, "all": true},
		{"q": ""},
		{"q": "after:soon"},
		{"q": "subject:"},
		{"q": "hello -from:\"\""},
		{"q": "\" \""},
		{"q": strings.Repeat("a", 1001)},
		{"q": strings.Repeat("é", 501)},
		{"ids": many},
		{"ids": nil},
		{"ids": "x"},
		{"ids": []int{1}},
		{"all": "true"},
		{"all": true, "mailbox": box.ID},
	} {
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			if method == http.MethodPatch {
				body["seen"] = true
			} else {
				delete(body, "seen")
			}
			if a := s.Call(method, "/me/messages", u.Token, body); a.Status != 422 || a.Code() != "request.invalid" {
				t.Errorf("%s /me/messages %.80v: %d %s, want 422 request.invalid", method, body, a.Status, a.Body)
			}
		}
	}
	want(t, s.Call(http.MethodPatch, "/me/messages", u.Token, fields{"all": true}), 422, "request.invalid")
	want(t, s.Call(http.MethodDelete, "/me/messages", u.Token, nil), 422, "request.invalid")
	if n := s.count(http.MethodDelete, u, fields{"ids": many[:1000]}); n != 0 {
		t.Errorf("DELETE of 1,000 unknown ids: count %d, want 0", n)
	}
	want(t, s.Call(http.MethodDelete, "/me/messages", u.Token, fields{"ids": []string{strings.Repeat("x", 64<<10)}}), 413, "request.too_large")
	want(t, s.Call(http.MethodDelete, "/me/messages", u.Token, fields{"ids": []string{strings.Repeat("x", 63<<10)}}), 200, "")
	if got := subjects(get[[]summary](s, "/me/messages", u.Token)); got != "hello" {
		t.Errorf("the list is %s, want hello", got)
	}
}

// A change of all messages spares those that arrive after it began, and counts each message once, also beside another change.
func TestSelectionsBesideArrivals(t *testing.T) {
	t.Parallel()
	const mails = 40
	s := startAccounts(t, settings{"limits.other": "100000/1m"})
	u := s.account("ada@example.org")
	boxes := []mailbox{s.create(u.Token, nil), s.create(u.Token, nil)}
	var sending sync.WaitGroup
	for w := range 2 {
		sending.Go(func() {
			for i := range mails {
				if err := s.TrySend(apptest.Mail{To: []string{boxes[(w+i)%2].Address}, Subject: fmt.Sprint(w, i), Text: "hello"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() { sending.Wait(); close(finished) }()
	deleted := 0
	for running, i := true, 0; running; i++ {
		select {
		case <-finished:
			running = false
		default:
		}
		deleted += s.count(http.MethodDelete, u, []fields{{"all": true}, {"q": "hello"}}[i%2])
		s.count(http.MethodPatch, u, fields{"all": true, "seen": true})
	}
	left := len(get[[]summary](s, "/me/messages?limit=100", u.Token))
	if deleted+left != 2*mails {
		t.Errorf("%d messages were deleted and %d are left, want %d together", deleted, left, 2*mails)
	}
	messages := 0
	for _, box := range boxes {
		messages += get[mailbox](s, "/mailboxes/me", box.Token).MessageCount
	}
	if messages != left {
		t.Errorf("the mailboxes count %d messages, want %d", messages, left)
	}
}

// Changes and lists of all messages count against the limits of their credential, and take no other kind of body.
func TestAccountMessagesAreLimited(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.other": "30/1m", "plans.free.keys.calls": "5/1m", "plans.free.keys.max": "2"})
	u := s.account("ada@example.org")
	elsewhere := s.key(u, fields{"allowedCidrs": []string{"203.0.113.0/24"}})
	s.call(http.MethodGet, "/keys/messages", elsewhere.Key, 403, "auth.address_not_allowed")
	for _, method := range []string{http.MethodPatch, http.MethodDelete} {
		a := s.do(method, "/me/messages", u.Token, fields{"all": true, "seen": true}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
		want(t, a, 415, "request.media_type")
		want(t, s.Call(method, "/me/messages", u.Token, fields{"ids": []string{strings.Repeat("x", 64<<10)}, "seen": true}), 413, "request.too_large")
	}
	k := s.key(u, nil)
	s.throttled(http.MethodGet, "/keys/messages", k.Key)
	for _, method := range []string{http.MethodPatch, http.MethodDelete} {
		s.throttled(method, "/me/messages", u.Token)
	}
}
