package system_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/smtpd/dialogtest"
)

// TestServiceDialogs plays test/dialogs/service/*.txt, each against a service of its own whose clock and storage the
// test controls.
func TestServiceDialogs(t *testing.T) {
	t.Parallel()
	sources, err := dialogtest.Sources("../dialogs/service/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		t.Run(source.Name, func(t *testing.T) {
			t.Parallel()
			playService(t, source)
		})
	}
}

// variables are those of test/dialogs/service/README.md, before the mailboxes have names.
func variables() map[string]string {
	return map[string]string{
		"hostname": "mx.gonebox.localhost", "domain": "gonebox.localhost",
		"address": "", "other": "", "local": "", "LOCAL": "", "expired": "", "destroyed": "", "disabled": "",
	}
}

func playService(t *testing.T, source dialogtest.Source) {
	d, err := source.Dialog(variables())
	if err != nil {
		t.Fatal(err)
	}
	s, a, disk := assembled(t, d.Config)
	expired := a.newMailbox()
	s.Clock.Advance(24 * time.Hour)
	destroyed, box, other := a.newMailbox(), a.newMailbox(), a.newMailbox()
	if status, body := a.call(http.MethodDelete, "/mailboxes/me", destroyed.Token, nil); status != http.StatusNoContent {
		t.Fatalf("destroy a mailbox: %d %s, want %v", status, body, http.StatusNoContent)
	}
	disk.failing.Store(d.Deliver != "")

	v := variables()
	local, _, _ := strings.Cut(box.Address, "@")
	v["address"], v["other"], v["local"], v["LOCAL"] = box.Address, other.Address, local, strings.ToUpper(local)
	v["expired"], v["destroyed"] = expired.Address, destroyed.Address
	if strings.Contains(source.Text, "${disabled}") || strings.Contains(source.Text, blockedClient) {
		v["disabled"] = byStaff(t, s, a)
	}
	if d, err = source.Dialog(v); err != nil {
		t.Fatal(err)
	}
	if err := (dialogtest.Player{Addr: s.SMTP}).Play(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	disk.failing.Store(false) // reading a message marks it as seen
	a.wantDelivered(d, []mailbox{box, other})
}

// blockedClient, blockedSender and blockedRecipient are blocked in the dialogs that mention the first.
const (
	blockedClient    = "192.0.2.9"
	blockedSender    = "@blocked.test"
	blockedRecipient = "admin*@gonebox.localhost"
)

// byStaff has a member of staff block these, and disable an account. It returns the address of that account's mailbox.
func byStaff(t *testing.T, s *apptest.Service, a api) (disabled string) {
	t.Helper()
	must := func(method, path, token string, body map[string]any, want int) []byte {
		t.Helper()
		status, text := a.call(method, path, token, body)
		if status != want {
			t.Fatalf("%s %s: %d %s, want %d", method, path, status, text, want)
		}
		return text
	}
	tokens := make(map[string]string)
	for _, name := range []string{"staff", "ada"} {
		text := must(http.MethodPost, "/auth/register", "", map[string]any{"email": name + "@example.org", "password": userPassword}, 201)
		tokens[name] = decode[struct{ Token string }](t, text).Token
	}
	if _, err := s.Database().ExecContext(t.Context(), "UPDATE account SET role = 'staff' WHERE email = 'staff@example.org'"); err != nil {
		t.Fatal(err)
	}
	box := decode[mailbox](t, must(http.MethodPost, "/mailboxes", tokens["ada"], map[string]any{}, 201))
	must(http.MethodPatch, "/staff/users/ada@example.org", tokens["staff"], map[string]any{"disabled": true}, 200)
	for kind, value := range map[string]string{"ip": blockedClient, "sender": blockedSender, "recipient": blockedRecipient} {
		must(http.MethodPost, "/staff/blocks", tokens["staff"], map[string]any{kind: value}, 201)
	}
	return box.Address
}
