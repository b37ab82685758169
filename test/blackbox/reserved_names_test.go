package blackbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// A mailbox whose name has been reserved since it was created ends: its token and its mail.
func TestReservedMailboxEndsByItself(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	taken, kept := s.create("", body{"localPart": "ann", "ttl": 86400}), s.create("", body{"localPart": "bea", "ttl": 86400})
	s.Send(apptest.Mail{To: []string{taken.Address}, Subject: "certificate"})
	// The job also runs at the start, so the mailbox may end at any moment from here on.
	if _, err := s.Database().ExecContext(t.Context(), "UPDATE mailbox SET local_part = 'administrator', address = $1 WHERE id = $2", "administrator@"+taken.Domain, taken.ID); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(61 * time.Minute)
	eventually(t, "the end of the mailbox", func() bool {
		return s.Call(http.MethodGet, "/mailboxes/me/messages", taken.Token, nil).Status == http.StatusUnauthorized
	})
	s.call(http.MethodGet, "/mailboxes/me/messages", taken.Token, 401, "auth.invalid_token")
	if err := s.TrySend(apptest.Mail{To: []string{"administrator@" + taken.Domain}}); err == nil {
		t.Errorf("TrySend to administrator@%s after the end of its mailbox: accepted, want it refused", taken.Domain)
	}
	s.call(http.MethodGet, "/mailboxes/me/messages", kept.Token, 200, "")
}
