// Package mailtm_test runs clients of mail.tm, as they are published, against Gonebox.
package mailtm_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// TestMailTMClientRunsUnmodified runs the npm package @cemalgnlts/mailjs through flow.mjs.
func TestMailTMClientRunsUnmodified(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	if _, err := os.Stat("node_modules/@cemalgnlts/mailjs"); err != nil {
		if testing.Short() {
			t.Skip("the client is not installed")
		}
		t.Fatal("make test/compat/mailtm/node_modules installs the client")
	}
	s := apptest.Start(t, apptest.Options{RealClock: true, Set: map[string]string{
		"compat.mailtm.addr": "127.0.0.1:0", "account.password.memory": "8KiB",
	}})
	out, err := exec.CommandContext(t.Context(), "node", "flow.mjs", s.MailTM, s.SMTP).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Errorf("%v: %s", err, out)
	}
}
