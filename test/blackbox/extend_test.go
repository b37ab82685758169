package blackbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// extend extends a mailbox and returns it with its new token.
func (s *service) extend(token string, params any) (m mailbox) {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/mailboxes/me/extend", token, params)
	if a.Status != http.StatusOK {
		s.t.Fatalf("extend: %d %s, want Status %v", a.Status, a.Body, http.StatusOK)
	}
	a.Into(s.t, &m)
	return m
}

func TestExtend(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", body{"ttl": 10 * 60})
	for _, c := range []struct {
		name   string
		params any
		ttl    int
	}{
		{"earlier than it is", body{"ttl": 60}, 600},
		{"later", body{"ttl": 700}, 700},
		{"by the default, without a body", nil, hour},
		{"by the default, without a ttl", body{}, hour},
		{"to the maximum", body{"ttl": day}, day},
	} {
		got := s.extend(m.Token, c.params)
		if got.TTL != c.ttl || got.ID != m.ID || got.Address != m.Address || got.Token == "" {
			t.Errorf("%s: POST /mailboxes/me/extend = %+v, want %s at %s with a new token, for %d s", c.name, got, m.ID, m.Address, c.ttl)
		}
		s.call(http.MethodGet, "/mailboxes/me", got.Token, 200, "")
	}
}

func TestExtendKeepsTheOldTokenUntilItsOwnExpiry(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	old := s.create("", nil)
	s.mail(old.box(), apptest.Mail{Subject: "kept"})
	renewed := s.extend(old.Token, body{"ttl": 2 * hour})
	if renewed.Token == old.Token {
		t.Error("POST /mailboxes/me/extend returned the old token, want another")
	}
	s.Clock.Advance(time.Hour - time.Second)
	s.call(http.MethodGet, "/mailboxes/me", old.Token, 200, "")
	s.Clock.Advance(time.Second)
	s.call(http.MethodGet, "/mailboxes/me", old.Token, 401, "auth.invalid_token")
	if got := get[[]summary](s, "/mailboxes/me/messages", renewed.Token); len(got) != 1 {
		t.Errorf("%d messages, want 1", len(got))
	}
	s.Clock.Advance(time.Hour)
	s.call(http.MethodGet, "/mailboxes/me", renewed.Token, 410, "mailbox.expired")
}

func TestExtendRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", body{"ttl": day})
	for _, ttl := range []any{day + 1, int64(1) << 62} {
		want(t, s.Call(http.MethodPost, "/mailboxes/me/extend", m.Token, body{"ttl": ttl}), 403, "mailbox.lifetime_exceeded")
	}
	for _, wrong := range []body{{"ttl": 59}, {"ttl": -1}, {"ttl": "60"}, {"ttl": 1e300}, {"tll": 60}} {
		want(t, s.Call(http.MethodPost, "/mailboxes/me/extend", m.Token, wrong), 422, "request.invalid")
	}
	// A guest's mailbox lives for seven days at most, here extended a day at a time.
	for range 6 {
		s.Clock.Advance((day - 60) * time.Second)
		m = s.extend(m.Token, body{"ttl": day})
	}
	s.Clock.Advance((day - 600) * time.Second)
	want(t, s.Call(http.MethodPost, "/mailboxes/me/extend", m.Token, body{"ttl": day}), 403, "mailbox.lifetime_exceeded")
	if got := get[mailbox](s, "/mailboxes/me", m.Token); !got.ExpiresAt.Equal(m.ExpiresAt) {
		t.Errorf("a refused extension moved the expiry to %s, want ExpiresAt %v", got.ExpiresAt, m.ExpiresAt)
	}
	last := apptest.Noon().Add(7 * day * time.Second)
	left := int(last.Sub(s.Clock.Now()).Seconds())
	want(t, s.Call(http.MethodPost, "/mailboxes/me/extend", m.Token, body{"ttl": left + 1}), 403, "mailbox.lifetime_exceeded")
	if got := s.extend(m.Token, body{"ttl": left}); !got.ExpiresAt.Equal(last) {
		t.Errorf("POST /mailboxes/me/extend by all that is left = %+v, want it to expire at %v", got, last)
	}
}
