package blackbox_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Every limit of docs/spec/limits.md#rate-limits that concerns these groups is enforced, and its Retry-After is
// correct.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit string
		calls []string // each of them counts against it
	}{
		{"mailbox_create", []string{"POST /mailboxes"}},
		{"session", []string{"POST /session"}},
		{"reads", []string{
			"GET /mailboxes/me", "GET /mailboxes/me/messages", "GET /mailboxes/me/otp/latest", "GET /mailboxes/me/deliveries", "GET /messages/x", "GET /messages/x/raw", "GET /messages/x/checks", "GET /messages/x/parts", "GET /messages/x/parts/0", "GET /messages/x/attachments/y",
		}},
		{"other", []string{"GET /domains", "POST /mailboxes/me/extend", "DELETE /messages/x", "PATCH /messages/x", "GET /session", "DELETE /session", "DELETE /mailboxes/me"}},
	} {
		s := start(t, settings{"limits." + c.limit: "2/1m"})
		for _, call := range c.calls {
			t.Run(call, func(t *testing.T) {
				defer s.Clock.Advance(time.Minute) // the next call finds the limit as fresh as ever
				method, path, _ := strings.Cut(call, " ")
				first := s.Call(method, path, "", nil)
				if got := first.Header.Get("RateLimit-Policy"); got != `"`+c.limit+`";q=2;w=60` {
					t.Errorf("RateLimit-Policy: %s, want %v", got, `"`+c.limit+`";q=2;w=60`)
				}
				if got := first.Header.Get("RateLimit"); !strings.HasPrefix(got, `"`+c.limit+`";r=1;t=`) {
					t.Errorf("RateLimit is %s, want one left of %s", got, c.limit)
				}
				s.Call(method, path, "", nil)
				a := s.call(method, path, "", 429, "rate.limited")
				seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
				if err != nil || !strings.Contains(a.Header.Get("RateLimit"), ";r=0;") {
					t.Fatalf("%s %s over the limit: the header is %v, %v, want RateLimit with none left", method, path, a.Header, err)
				}
				s.Clock.Advance(time.Duration(seconds) * time.Second)
				if a := s.Call(method, path, "", nil); a.Status == 429 {
					t.Errorf("refused after Retry-After: %s, want Status not 429", a.Body)
				}
			})
		}
	}
}

func TestProbesAreNotLimited(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.other": "1/1h", "limits.reads": "1/1h"})
	for range 5 {
		s.call(http.MethodGet, "/healthz", "", 200, "")
		s.call(http.MethodGet, "/readyz", "", 200, "")
	}
}

// Other calls are counted by credential; those without a valid one by address.
func TestOtherCallsAreLimitedByCredential(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.other": "2/1h"})
	a, b := s.create("", nil), s.create("", nil)
	for _, m := range []mailbox{a, b} {
		for range 2 {
			s.call(http.MethodPost, "/mailboxes/me/extend", m.Token, 200, "")
		}
		s.call(http.MethodPost, "/mailboxes/me/extend", m.Token, 429, "rate.limited")
	}
	s.call(http.MethodGet, "/domains", "", 200, "")
	s.call(http.MethodPost, "/mailboxes/me/extend", mistyped(a.Token), 401, "auth.invalid_token")
	s.call(http.MethodPost, "/mailboxes/me/extend", mistyped(b.Token), 429, "rate.limited")
	s.call(http.MethodGet, "/domains", "", 429, "rate.limited")
}

func TestConcurrentLongPollsAreLimited(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.long_polls": "2"})
	m := s.create("", nil)
	first, second := s.waiting(waitForMail, m.Token), s.waiting(waitForCode, m.Token)
	a := s.call(http.MethodGet, waitForMail, m.Token, 429, "rate.limited")
	if a.Header.Get("Retry-After") == "" {
		t.Errorf("GET %s beside other waits: the header is %v, want Retry-After in it", waitForMail, a.Header)
	}
	s.call(http.MethodGet, waitForCode, m.Token, 429, "rate.limited")
	s.call(http.MethodGet, "/mailboxes/me/messages?wait=0", m.Token, 200, "")
	s.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "")
	first()
	second()
}

// Behind a trusted proxy the limits count by the forwarded address, which clients cannot forge.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	const limit = "limits.mailbox_create"
	create := func(s *service, status int, forwarded ...string) {
		t.Helper()
		a := s.do(http.MethodPost, "/mailboxes", "", nil, func(r *http.Request) { r.Header["X-Forwarded-For"] = forwarded })
		if a.Status != status {
			t.Errorf("X-Forwarded-For: %q: %d %s, want Status %v", forwarded, a.Status, a.Body, status)
		}
	}
	t.Run("not trusted", func(t *testing.T) {
		s := start(t, settings{limit: "1/1h"})
		create(s, 201, "192.0.2.1")
		create(s, 429, "192.0.2.2")
	})
	t.Run("trusted", func(t *testing.T) {
		s := start(t, settings{limit: "1/1h", "http.trusted_proxies": "127.0.0.0/8, 10.0.0.0/8, 2001:db8:ffff::/48"})
		create(s, 201, "192.0.2.1")
		create(s, 429, "192.0.2.1")
		create(s, 429, "6.6.6.6, 192.0.2.1")          // what the client wrote itself is left of what the proxy added
		create(s, 429, "6.6.6.7", "192.0.2.1")        // on a line of its own, too
		create(s, 429, "192.0.2.1, 10.1.2.3")         // a chain of trusted ones
		create(s, 429, "192.0.2.1:4711, 10.1.2.3:80") // with ports
		create(s, 429, "::ffff:192.0.2.1, ::ffff:10.9.9.9")
		create(s, 201, "192.0.2.2,10.1.2.3")
		create(s, 201, "2001:db8::1, 2001:db8:ffff::1")
		create(s, 429, "2001:db8::2") // the same /64
		create(s, 201, "2001:db8:0:1::2")
		create(s, 201) // none: the proxy itself
		create(s, 429, "garbage")
		create(s, 429, "192.0.2.9, garbage") // not to be believed
		create(s, 201, "garbage, 192.0.2.10")
		create(s, 429, "")
	})
}

func TestLimitsHoldUnderConcurrency(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.session": "10/1h"})
	var all sync.WaitGroup
	statuses := make(chan int, 30)
	for range 10 {
		all.Go(func() {
			for range 3 {
				a, err := s.TryCall(t.Context(), http.MethodPost, "/session", "", nil)
				if err != nil {
					t.Error(err)
				}
				statuses <- a.Status
			}
		})
	}
	all.Wait()
	close(statuses)
	counts := map[int]int{}
	for status := range statuses {
		counts[status]++
	}
	if counts[201] != 10 || counts[429] != 20 {
		t.Errorf("the responses by status are %v, want 10 of 201 and 20 of 429", counts)
	}
}
