package app_test

import (
	"bytes"
	"net/http"
	"regexp"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// The developer key of profile: dev stays the same across restarts, and another one in the configuration replaces it.
func TestDevKeyIsKeptAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	const configured = "x_ar71pbq8b0_YYr1twATtvBfi5SsMDZrMRZ3N5tlgx7lxpU1gKChkju4YHnhf"
	set := map[string]string{"profile": "dev", "compat.mailpit.addr": "", "account.password.memory": "8KiB"}
	start := func(key string, good, bad string) {
		t.Helper()
		set["dev.key"] = key
		s := apptest.Start(t, apptest.Options{Dir: dir, Set: set})
		for credential, status := range map[string]int{good: 200, bad: 401} {
			if a := s.Call(http.MethodGet, "/keys/mailboxes", credential, nil); credential != "" && a.Status != status {
				t.Errorf("dev.key %q: %d for %s", key, a.Status, credential)
			}
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	start(configured, configured, "")
	start(configured, configured, "")
	start("", "", configured)
	start(configured, configured, "")
}

func TestDevProfileIsAnnounced(t *testing.T) {
	var log bytes.Buffer
	s := apptest.Start(t, apptest.Options{Log: &log, Set: map[string]string{"profile": "dev", "compat.mailpit.addr": "", "account.password.memory": "8KiB"}})
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`level=WARN msg="?DEVELOPMENT PROFILE`).Match(log.Bytes()) {
		t.Errorf("no warning: %s", log.Bytes())
	}
}
