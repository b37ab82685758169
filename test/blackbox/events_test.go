package blackbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// change is the data of the events seen, deleted, mailbox and end.
type change struct {
	ID, MailboxID, Reason string
	Seen                  *bool
	ExpiresAt             time.Time
	TTL                   int
}

// expect reads the next event, which must have a name, and returns its data.
func expect(t *testing.T, s *apptest.Stream, name string) (c change) {
	t.Helper()
	e := s.Next()
	if e.Name != name {
		t.Fatalf("the event is %+v, want %s", e, name)
	}
	e.Into(t, &c)
	return c
}

// expectMessage reads the next event, which must be a message with a subject.
func expectMessage(t *testing.T, s *apptest.Stream, subject string) (m summary) {
	t.Helper()
	e := s.Next()
	if e.Name != "message" {
		t.Fatalf("%+v, want the message %s", e, subject)
	}
	if e.Into(t, &m); m.Subject != subject || m.ID != e.ID {
		t.Fatalf("%+v, want the message %s", e, subject)
	}
	return m
}

// expectEnd reads the end of a stream.
func expectEnd(t *testing.T, s *apptest.Stream, reason string) {
	t.Helper()
	if c := expect(t, s, "end"); c.Reason != reason {
		t.Errorf("the stream ended for %q, want %q", c.Reason, reason)
	}
	if e := s.Next(); e != (apptest.Event{}) {
		t.Errorf("%+v after the end, want %v", e, apptest.Event{})
	}
}

func (s *service) post(box mailbox, subject string) {
	s.t.Helper()
	s.Send(apptest.Mail{To: []string{box.Address}, Subject: subject, Text: "hello"})
}

func TestMailboxStreamReportsWhatHappens(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	s.post(m, "before")
	stream := s.OpenStream("/mailboxes/me/events", m.Token)
	if h := stream.Header; h.Get("Content-Type") != "text/event-stream" || h.Get("Content-Encoding") != "" || !strings.Contains(h.Get("Cache-Control"), "no-transform") {
		t.Errorf("the header of the stream is %v, want text/event-stream, no encoding, and no-transform in Cache-Control", h)
	}
	s.post(m, "first")
	first := expectMessage(t, stream, "first")
	if first.Seen || first.MailboxID != m.ID {
		t.Errorf("the event of the message first is %+v, want it unseen in %s", first, m.ID)
	}
	s.call(http.MethodGet, "/messages/"+first.ID, m.Token, 200, "")
	for _, seen := range []bool{true, false} { // reading has marked it
		if c := expect(t, stream, "seen"); c.ID != first.ID || c.Seen == nil || *c.Seen != seen || c.MailboxID != "" {
			t.Errorf("%+v, want seen %t", c, seen)
		}
		want(t, s.Call(http.MethodPatch, "/messages/"+first.ID, m.Token, fields{"seen": false}), 200, "")
	}
	want(t, s.Call(http.MethodPost, "/mailboxes/me/extend", m.Token, fields{"ttl": 7200}), 200, "")
	if c := expect(t, stream, "mailbox"); c.TTL != 7200 || !c.ExpiresAt.Equal(s.Clock.Now().Add(2*time.Hour)) {
		t.Errorf("the event mailbox is %+v, want a TTL of 7200 until %v", c, s.Clock.Now().Add(2*time.Hour))
	}
	s.call(http.MethodDelete, "/messages/"+first.ID, m.Token, 204, "")
	if c := expect(t, stream, "deleted"); c.ID != first.ID || c.Seen == nil || *c.Seen {
		t.Errorf("the event deleted is %+v, want %s, unseen", c, first.ID)
	}
	s.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "")
	expectEnd(t, stream, "destroyed")
}

func TestStreamsResumeAfterAMessage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	stream := s.OpenStream("/mailboxes/me/events", m.Token)
	s.post(m, "one")
	one := expectMessage(t, stream, "one")
	stream.Close()
	s.post(m, "two")
	s.post(m, "three")
	s.call(http.MethodDelete, "/messages/"+one.ID, m.Token, 204, "")
	for _, stream := range []*apptest.Stream{
		s.OpenStream("/mailboxes/me/events", m.Token, "Last-Event-ID", one.ID),
		s.OpenStream("/mailboxes/me/events?after="+one.ID, m.Token),
	} {
		two := expectMessage(t, stream, "two")
		expectMessage(t, stream, "three")
		both := s.OpenStream("/mailboxes/me/events?after="+one.ID, m.Token, "Last-Event-ID", two.ID)
		expectMessage(t, both, "three")
	}
	s.call(http.MethodGet, "/mailboxes/me/events?after=x", m.Token, 422, "request.invalid")
	want(t, s.do(http.MethodGet, "/mailboxes/me/events", m.Token, nil, func(r *http.Request) { r.Header.Set("Last-Event-ID", "x") }), 422, "request.invalid")
}

// However mails, openings and reconnections interleave, a client that resumes after its last event has each mail once.
func TestStreamsMissNoMail(t *testing.T) {
	t.Parallel()
	const writers, mails = 3, 12
	s := start(t, settings{"limits.long_polls": "100000"})
	u := s.account("ann@example.org")
	boxes := []mailbox{s.create(u.Token, nil), s.create(u.Token, nil)}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range mails {
				s.post(boxes[i%len(boxes)], fmt.Sprint(w, " ", i))
			}
		})
	}
	for range 2 {
		all.Go(func() {
			got, last := make(map[string]int), "msg_"+strings.Repeat("0", 26)
			for len(got) < writers*mails && !t.Failed() {
				stream := s.OpenStream("/me/events?after="+last, u.Token)
				for range 5 {
					e := stream.Next()
					if e.Name != "message" {
						t.Errorf(`stream.Next() = %+v, want Name "message"`, e)
						return
					}
					got[e.ID]++
					if last = e.ID; len(got) == writers*mails {
						break
					}
				}
				stream.Close()
			}
			for id, n := range got {
				if n != 1 {
					t.Errorf("%s was reported %d times, want 1", id, n)
				}
			}
		})
	}
	all.Wait()
}

func TestAccountStreamsOutliveMailboxes(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	u := s.account("ann@example.org")
	k := s.key(u, fields{"scopes": []string{"messages:read"}})
	first := s.create(u.Token, nil)
	other := s.create("", nil)
	streams := []*apptest.Stream{s.OpenStream("/me/events", u.Token), s.OpenStream("/keys/events", k.Key)}
	s.post(other, "not of the account")
	s.post(first, "one")
	for _, stream := range streams {
		if m := expectMessage(t, stream, "one"); m.MailboxID != first.ID {
			t.Errorf("the event of the message one is %+v, want it in %s", m, first.ID)
		}
	}
	s.call(http.MethodDelete, "/mailboxes/me", first.Token, 204, "")
	second := s.create(u.Token, fields{"ttl": 600})
	s.post(second, "two")
	var two summary
	for _, stream := range streams {
		two = expectMessage(t, stream, "two")
	}
	reported := func(name string) { // before the next change, which another process may report first
		t.Helper()
		for _, stream := range streams {
			if c := expect(t, stream, name); c.MailboxID != second.ID {
				t.Errorf("the event %s is %+v, want it of %s", name, c, second.ID)
			}
		}
	}
	s.call(http.MethodGet, "/messages/"+two.ID, second.Token, 200, "")
	reported("seen")
	want(t, s.Call(http.MethodPost, "/mailboxes/me/extend", second.Token, fields{"ttl": 7200}), 200, "")
	reported("mailbox")
	s.call(http.MethodDelete, "/messages/"+two.ID, second.Token, 204, "")
	reported("deleted")
	s.call(http.MethodDelete, "/me/api-keys/"+k.Prefix, u.Token, 204, "")
	expectEnd(t, streams[1], "destroyed")
	s.call(http.MethodDelete, "/auth/token", u.Token, 204, "")
	expectEnd(t, streams[0], "destroyed")
}

func TestStreamsEndWithTheirMailboxAndAtShutdown(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", fields{"ttl": 60})
	expiring := s.OpenStream("/mailboxes/me/events", m.Token)
	s.Clock.Advance(time.Minute)
	expectEnd(t, expiring, "expired")
	s.call(http.MethodGet, "/mailboxes/me/events", m.Token, 410, "mailbox.expired")
	m = s.create("", nil)
	open := s.OpenStream("/mailboxes/me/events", m.Token)
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	expectEnd(t, open, "shutdown")
}

func TestStreamsCountAsLongPolls(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.long_polls": "1"})
	m := s.create("", nil)
	stream := s.OpenStream("/mailboxes/me/events", m.Token)
	s.call(http.MethodGet, "/mailboxes/me/events", m.Token, 429, "rate.limited")
	s.call(http.MethodGet, waitForMail, m.Token, 429, "rate.limited")
	stream.Close()
	eventually(t, "a free place", func() bool { return s.Call(http.MethodGet, "/mailboxes/me/events", m.Token, nil).Status == 200 })
}

func TestStreamsOfAccountsAreLimited(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"limits.long_polls": "1", "http.trusted_proxies": "127.0.0.1/32"})
	u := s.account("ann@example.org")
	s.call(http.MethodGet, "/me/events?after=x", u.Token, 422, "request.invalid")
	open, k := s.key(u, nil), s.key(u, fields{"allowedCidrs": []string{"192.0.2.0/24"}})
	inside := func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.7") }
	s.call(http.MethodGet, "/keys/events", k.Key, 403, "auth.address_not_allowed")
	want(t, s.do(http.MethodGet, "/keys/events", k.Key, nil, inside), 200, "")
	var bound mailbox
	s.do(http.MethodPost, "/keys/mailboxes", k.Key, nil, inside).Into(t, &bound)
	s.call(http.MethodGet, "/mailboxes/me/events", bound.Token, 403, "auth.address_not_allowed")
	stream := s.OpenStream("/me/events", u.Token)
	defer stream.Close()
	s.call(http.MethodGet, "/me/events", u.Token, 429, "rate.limited")
	s.call(http.MethodGet, "/keys/events", open.Key, 429, "rate.limited")
}
