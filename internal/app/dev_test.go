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
				t.Errorf("dev.key %q: GET /keys/mailboxes with %q has the status %d, want %d", key, credential, a.Status, status)
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

// A start without the profile revokes the key, which many may know, and a start with it makes the key again.
func TestDevKeyEndsWithTheProfile(t *testing.T) {
	dir := t.TempDir()
	const key = "x_ar71pbq8b0_YYr1twATtvBfi5SsMDZrMRZ3N5tlgx7lxpU1gKChkju4YHnhf"
	dev := map[string]string{"profile": "dev", "dev.key": key, "compat.mailpit.addr": ""}
	for i, set := range []map[string]string{dev, {}, dev} {
		set["account.password.memory"] = "8KiB"
		s := apptest.Start(t, apptest.Options{Dir: dir, Set: set})
		want := http.StatusOK
		if set["profile"] != "dev" {
			want = http.StatusUnauthorized
		}
		if got := s.Call(http.MethodGet, "/keys/mailboxes", key, nil).Status; got != want {
			t.Errorf("start %d, profile %q: GET /keys/mailboxes with dev.key: got %d, want %d", i, set["profile"], got, want)
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDevProfileIsAnnounced(t *testing.T) {
	var log bytes.Buffer
	s := apptest.Start(t, apptest.Options{Log: &log, Set: map[string]string{"profile": "dev", "compat.mailpit.addr": "", "account.password.memory": "8KiB"}})
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`level=WARN msg="?DEVELOPMENT PROFILE`).Match(log.Bytes()) {
		t.Errorf("the log is\n%s\nwant a warning of the development profile", log.Bytes())
	}
}
