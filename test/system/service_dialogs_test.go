package system_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/smtpd/dialogtest"
)

// TestServiceDialogs plays test/dialogs/service/*.txt, each against a service of its own whose clock and storage the
// test controls.
func TestServiceDialogs(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../dialogs/service/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no dialogs: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			playService(t, path)
		})
	}
}

// variables are those of test/dialogs/service/README.md, before the mailboxes have names.
func variables() map[string]string {
	return map[string]string{
		"hostname": "mx.gonebox.localhost", "domain": "gonebox.localhost",
		"address": "", "other": "", "local": "", "LOCAL": "", "expired": "", "destroyed": "",
	}
}

func playService(t *testing.T, path string) {
	d, err := dialogtest.Load(path, variables())
	if err != nil {
		t.Fatal(err)
	}
	s, a, disk := assembled(t, d.Config)
	expired := a.newMailbox()
	s.Clock.Advance(24 * time.Hour)
	destroyed, box, other := a.newMailbox(), a.newMailbox(), a.newMailbox()
	if status, body := a.call(http.MethodDelete, "/mailboxes/me", destroyed.Token, nil); status != http.StatusNoContent {
		t.Fatalf("destroy a mailbox: %d %s", status, body)
	}
	disk.failing.Store(d.Deliver != "")

	v := variables()
	local, _, _ := strings.Cut(box.Address, "@")
	v["address"], v["other"], v["local"], v["LOCAL"] = box.Address, other.Address, local, strings.ToUpper(local)
	v["expired"], v["destroyed"] = expired.Address, destroyed.Address
	if d, err = dialogtest.Load(path, v); err != nil {
		t.Fatal(err)
	}
	if err := (dialogtest.Player{Addr: s.SMTP}).Play(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	disk.failing.Store(false) // reading a message marks it as seen
	a.wantDelivered(d, []mailbox{box, other})
}
