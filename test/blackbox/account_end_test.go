package blackbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// Disabling an account ends every credential of it and defers its mail; enabling it brings only the mail back
// (docs/spec/accounts.md#the-end-of-an-account).
func TestDisablingEndsEveryCredential(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	staff, ada := s.promote(s.account("staff@example.org")), s.account("ada@example.org")
	box, guest := s.create(ada.Token, nil), s.create("", nil)
	k := s.key(ada, nil)
	waiting, bystander := s.waiting(waitForMail, box.Token), s.waiting(waitForMail, guest.Token)
	disable := func(disabled bool) {
		t.Helper()
		want(t, s.Call(http.MethodPatch, "/staff/users/ada@example.org", staff.Token, fields{"disabled": disabled}), 200, "")
	}
	ended := func() {
		t.Helper()
		for path, credential := range map[string]string{"/me": ada.Token, "/mailboxes/me": box.Token, "/keys/mailboxes": k.Key} {
			s.call(http.MethodGet, path, credential, 401, "auth.invalid_token")
		}
	}
	disable(true)
	ended()
	done := make(chan apptest.Response, 1)
	go func() { done <- waiting() }()
	eventually(t, "the end of the wait", func() bool {
		s.Clock.Advance(100 * time.Millisecond)
		return len(done) > 0
	})
	want(t, <-done, 401, "auth.invalid_token")
	if err := s.TrySend(apptest.Mail{To: []string{box.Address}}); err == nil || !strings.Contains(err.Error(), "4.2.1") {
		t.Errorf(`mail to a disabled account: %v, want an error and "4.2.1" in it`, err)
	}
	a, _ := s.signIn("ada@example.org", userPassword, "")
	want(t, a, 401, "auth.invalid_credentials")

	disable(false)
	ended()
	a, token := s.signIn("ada@example.org", userPassword, "")
	want(t, a, 200, "")
	list := get[[]mailbox](s, "/me/mailboxes", token)
	if len(list) != 1 || list[0].ID != box.ID {
		t.Fatalf("GET /me/mailboxes = %+v, want %s alone", list, box.ID)
	}
	s.Send(apptest.Mail{To: []string{box.Address, guest.Address}})
	if got := get[[]summary](s, "/mailboxes/me/messages", list[0].Token); len(got) != 1 {
		t.Errorf("GET /mailboxes/me/messages = %+v, want one message", got)
	}
	want(t, bystander(), 200, "")
}

func TestResettingThePasswordEndsEveryCredential(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	staff, ada := s.promote(s.account("staff@example.org")), s.account("ada@example.org")
	box, k := s.create(ada.Token, nil), s.key(ada, nil)
	want(t, s.Call(http.MethodPost, "/staff/users/ada@example.org/password", staff.Token, fields{"password": "another password"}), 200, "")
	for path, credential := range map[string]string{"/me": ada.Token, "/mailboxes/me": box.Token, "/keys/mailboxes": k.Key} {
		s.call(http.MethodGet, path, credential, 401, "auth.invalid_token")
	}
	s.Send(apptest.Mail{To: []string{box.Address}})
	a, token := s.signIn("ada@example.org", "another password", "")
	want(t, a, 200, "")
	if list := get[[]mailbox](s, "/me/mailboxes", token); len(list) != 1 || list[0].MessageCount != 1 {
		t.Errorf("GET /me/mailboxes = %+v, want one mailbox with one message", list)
	}
}
