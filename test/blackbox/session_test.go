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
	t.Parallel()
	s := start(t, nil)
	k := s.startSession()
	if !strings.HasPrefix(k.Key, "xg_") || !k.ExpiresAt.Equal(apptest.Noon().Add(30*time.Minute)) {
		t.Errorf("POST /session: got %+v, want a key that begins with xg_ and ends in 30 minutes, at 12:30", k)
	}
	if got := get[session](s, "/session", k.Key); len(got.Mailboxes) != 0 {
		t.Errorf("GET /session of a new session: got %+v, want no mailboxes", got)
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
		t.Fatalf("GET /session: got %+v, want the mailboxes %s and %s, the newest first, without the ended one", got, long.ID, short.ID)
	}
	for _, m := range got.Mailboxes {
		if shown := get[mailbox](s, "/mailboxes/me", m.Token); shown.ID != m.ID || m.Source != "session" {
			t.Errorf("GET /mailboxes/me with the token of %+v: got %+v, want the same mailbox, of a session", m, shown)
		}
	}
	s.Clock.Advance(time.Minute)
	if got := get[session](s, "/session", k.Key); len(got.Mailboxes) != 1 || got.Mailboxes[0].ID != long.ID {
		t.Errorf("GET /session after a mailbox expired: got %+v, want the mailbox %s alone", got, long.ID)
	}
	s.call(http.MethodGet, "/mailboxes/me", got.Mailboxes[1].Token, 410, "mailbox.expired")
}

func TestUseExtendsSession(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	k := s.startSession()
	for _, use := range []func(){
		func() { get[session](s, "/session", k.Key) },
		func() { s.create(k.Key, nil) },
	} {
		s.Clock.Advance(30*time.Minute - time.Second)
		use()
	}
	if got, want := get[session](s, "/session", k.Key).ExpiresAt, s.Clock.Now().Add(30*time.Minute); !got.Equal(want) {
		t.Errorf("GET /session: got expiresAt %s, want %s, 30 minutes after this use", got, want)
	}
	s.Clock.Advance(30 * time.Minute)
	s.call(http.MethodGet, "/session", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodDelete, "/session", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodPost, "/mailboxes", k.Key, 401, "auth.invalid_token")
}

func TestEndingSessionKeepsItsMailboxes(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	k := s.startSession()
	m := s.create(k.Key, nil)
	s.call(http.MethodDelete, "/session", k.Key, 204, "")
	s.call(http.MethodGet, "/session", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodDelete, "/session", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodPost, "/mailboxes", k.Key, 401, "auth.invalid_token")
	s.mail(m.box(), apptest.Mail{Subject: "still here"})
	if left := column(t, s.Database(), "SELECT count(*) FROM mailbox WHERE session_id IS NOT NULL"); left[0] != "0" {
		t.Errorf("mailboxes that name a session after it was deleted: got %s, want 0", left[0])
	}
}

// A lapsed session is erased, and its mailboxes continue.
func TestLapsedSessionIsErased(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	s := start(t, nil)
	k := s.startSession()
	var last mailbox
	for range 50 {
		last = s.create(k.Key, nil)
	}
	s.call(http.MethodPost, "/mailboxes", k.Key, 422, "mailbox.limit_reached")
	if got := get[session](s, "/session", k.Key); len(got.Mailboxes) != 50 {
		t.Errorf("GET /session at the limit: got %d mailboxes, want 50", len(got.Mailboxes))
	}
	s.create("", nil)
	s.call(http.MethodDelete, "/mailboxes/me", last.Token, 204, "")
	s.create(k.Key, nil)
	s.call(http.MethodPost, "/mailboxes", k.Key, 422, "mailbox.limit_reached")
}

// The token that the session returns ends with the mailbox, not with the session.
func TestSessionTokensEndWithTheMailbox(t *testing.T) {
	t.Parallel()
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
