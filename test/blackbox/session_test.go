package blackbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

type sessionKey struct {
	Key       string
	ExpiresAt time.Time
}

func (s *service) startSession() (k sessionKey) {
	s.t.Helper()
	a := s.call(http.MethodPost, "/session", "", 201, "")
	a.Into(s.t, &k)
	return k
}

func TestSessionListsItsMailboxes(t *testing.T) {
	s := start(t, nil)
	k := s.startSession()
	if !strings.HasPrefix(k.Key, "xg_") || !k.ExpiresAt.Equal(apptest.Noon().Add(30*time.Minute)) {
		t.Errorf("%+v", k)
	}
	if got := get[session](s, "/session", k.Key); len(got.Mailboxes) != 0 {
		t.Errorf("%+v", got)
	}
	short := s.create(k.Key, body{"ttl": 60})
	s.Clock.Advance(time.Second)
	long := s.create(k.Key, body{"ttl": 600})
	s.Clock.Advance(time.Second)
	gone := s.create(k.Key, nil)
	s.call(http.MethodDelete, "/mailboxes/me", gone.Token, 204, "")
	s.create("", nil) // of another owner
	s.create(s.startSession().Key, nil)

	got := get[session](s, "/session", k.Key)
	if len(got.Mailboxes) != 2 || got.Mailboxes[0].ID != long.ID || got.Mailboxes[1].ID != short.ID {
		t.Fatalf("newest first, without the ended one: %+v", got)
	}
	for _, m := range got.Mailboxes {
		if shown := get[mailbox](s, "/mailboxes/me", m.Token); shown.ID != m.ID || m.Source != "session" {
			t.Errorf("%+v opens %+v", m, shown)
		}
	}
	s.Clock.Advance(time.Minute)
	if got := get[session](s, "/session", k.Key); len(got.Mailboxes) != 1 || got.Mailboxes[0].ID != long.ID {
		t.Errorf("without the expired one: %+v", got)
	}
	s.call(http.MethodGet, "/mailboxes/me", got.Mailboxes[1].Token, 410, "mailbox.expired")
}

func TestUseExtendsSession(t *testing.T) {
	s := start(t, nil)
	k := s.startSession()
	for _, use := range []func(){
		func() { get[session](s, "/session", k.Key) },
		func() { s.create(k.Key, nil) },
	} {
		s.Clock.Advance(30*time.Minute - time.Second)
		use()
	}
	if got := get[session](s, "/session", k.Key); !got.ExpiresAt.Equal(s.Clock.Now().Add(30 * time.Minute)) {
		t.Errorf("%s, now is %s", got.ExpiresAt, s.Clock.Now())
	}
	s.Clock.Advance(30 * time.Minute)
	s.call(http.MethodGet, "/session", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodDelete, "/session", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodPost, "/mailboxes", k.Key, 401, "auth.invalid_token")
}

func TestEndingSessionKeepsItsMailboxes(t *testing.T) {
	s := start(t, nil)
	k := s.startSession()
	m := s.create(k.Key, nil)
	s.call(http.MethodDelete, "/session", k.Key, 204, "")
	s.call(http.MethodGet, "/session", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodDelete, "/session", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodPost, "/mailboxes", k.Key, 401, "auth.invalid_token")
	s.mail(m.box(), apptest.Mail{Subject: "still here"})
	if left := column(t, s.Database(), "SELECT count(*) FROM mailbox WHERE session_id IS NOT NULL"); left[0] != "0" {
		t.Errorf("%s mailboxes still name their session", left[0])
	}
}

// A lapsed session is erased, and its mailboxes continue.
func TestLapsedSessionIsErased(t *testing.T) {
	s := start(t, nil)
	m := s.create(s.startSession().Key, nil)
	s.Clock.Advance(30 * time.Minute)
	d := s.Database()
	eventually(t, "erasing the session", func() bool {
		s.nextRound()
		return column(t, d, "SELECT count(*) FROM guest_session")[0] == "0"
	})
	s.call(http.MethodGet, "/mailboxes/me", m.Token, 200, "")
}

// A session has at most as many live mailboxes as the guest plan allows; those of others do not count.
func TestSessionMailboxLimit(t *testing.T) {
	s := start(t, nil)
	k := s.startSession()
	var last mailbox
	for range 50 {
		last = s.create(k.Key, nil)
	}
	s.call(http.MethodPost, "/mailboxes", k.Key, 422, "mailbox.limit_reached")
	if got := get[session](s, "/session", k.Key); len(got.Mailboxes) != 50 {
		t.Errorf("%d mailboxes", len(got.Mailboxes))
	}
	s.create("", nil)
	s.call(http.MethodDelete, "/mailboxes/me", last.Token, 204, "")
	s.create(k.Key, nil)
	s.call(http.MethodPost, "/mailboxes", k.Key, 422, "mailbox.limit_reached")
}

// The token that the session returns ends with the mailbox, not with the session.
func TestSessionTokensEndWithTheMailbox(t *testing.T) {
	s := start(t, nil)
	k := s.startSession()
	s.create(k.Key, body{"ttl": 90})
	s.Clock.Advance(time.Minute)
	token := get[session](s, "/session", k.Key).Mailboxes[0].Token
	s.Clock.Advance(30*time.Second - time.Millisecond)
	s.call(http.MethodGet, "/mailboxes/me", token, 200, "")
	s.Clock.Advance(time.Millisecond)
	s.call(http.MethodGet, "/mailboxes/me", token, 410, "mailbox.expired")
}
