// Package mailpit_test runs clients of Mailpit, as they are published, against Gonebox.
package mailpit_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// TestMailpitClientRunsUnmodified runs the npm package mailpit-api through the flows of flow.mjs.
func TestMailpitClientRunsUnmodified(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	if _, err := os.Stat("node_modules/mailpit-api"); err != nil {
		if testing.Short() {
			t.Skip("the client is not installed")
		}
		t.Fatal("make test/compat/mailpit/node_modules installs the client")
	}
	s := apptest.Start(t, apptest.Options{RealClock: true, Set: map[string]string{
		"profile": "dev", "compat.mailpit.addr": "127.0.0.1:0", "account.password.memory": "8KiB",
	}})
	out, err := exec.CommandContext(t.Context(), "node", "flow.mjs", s.Mailpit, s.SMTP).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Errorf("%v: %s", err, out)
	}
}
