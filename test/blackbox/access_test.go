package blackbox_test

import (
	"crypto/sha256"
	"net/http"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// invite stores an invitation, as gonebox invite add does.
func (s *service) invite(id, code string, expires any) {
	s.t.Helper()
	hash := sha256.Sum256([]byte(code))
	_, err := s.Database().ExecContext(s.t.Context(), "INSERT INTO invite (id, code_hash, note, created_at, expires_at) VALUES ($1, $2, '', 0, $3)", id, hash[:], expires)
	if err != nil {
		s.t.Fatal(err)
	}
}

func TestInvitationIsUsedOnce(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"access.registration": "invite"})
	s.invite("inv_1", "FIRSTCODE", nil)
	s.invite("inv_2", "OLDCODE", apptest.Noon().Add(time.Minute).UnixMicro())
	register := func(email, invite string, status int, code string) {
		t.Helper()
		b := fields{"email": email, "password": userPassword}
		if invite != "" {
			b["invite"] = invite
		}
		want(t, s.Call(http.MethodPost, "/auth/register", "", b), status, code)
	}
	register("ada@example.org", "", 403, "access.closed")
	register("ada@example.org", "NOCODE", 403, "access.closed")
	register("ada@example.org", "firstcode ", 201, "") // people type codes
	register("bob@example.org", "FIRSTCODE", 403, "access.closed")
	register("ada@example.org", "FIRSTCODE", 403, "access.closed") // the address is not revealed as taken
	register("ada@example.org", "OLDCODE", 409, "account.email_taken")
	s.Clock.Advance(time.Minute)
	register("bob@example.org", "OLDCODE", 403, "access.closed")
}

func TestClosedServiceRefusesRegistrations(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"access.registration": "closed"})
	s.invite("inv_1", "FIRSTCODE", nil)
	b := fields{"email": "ada@example.org", "password": userPassword, "invite": "FIRSTCODE"}
	want(t, s.Call(http.MethodPost, "/auth/register", "", b), 403, "access.closed")
	s.create("", nil) // guests are still served
}

func TestServiceWithoutGuestsNeedsAnAccount(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"access.guests": "off"})
	s.call(http.MethodPost, "/mailboxes", "", 403, "access.closed")
	s.call(http.MethodPost, "/session", "", 403, "access.closed")
	s.create(s.account("ada@example.org").Token, nil)
}
