// Package system_test runs the built program as its operators and senders do: as a process with a data folder of its
// own, killed, starved of resources and used by other mail clients. It uses only SMTP, the HTTP API, the command line
// and, after a crash, the files that are left. Packages have their own tests.
package system_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// patience bounds every wait. It only ends a test that hangs.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	needs := "the built program, PostgreSQL, strace, swaks, Postfix's smtp-source and Dovecot"
	flag.Parse()
	if !given("test.parallel") {
		_ = flag.Set("test.parallel", "6") // parallel tests here mostly wait for processes to start, stop, expire or retry
	}
	os.Exit(apptest.RunLong(needs, func() int { return run(m) }))
}

// given reports whether a flag was set on the command line.
func given(name string) (set bool) {
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// authority issues the certificates of webhook receivers; every program here trusts it.
var authority *apptest.Authority

func run(m *testing.M) int {
	os.Setenv("PEBBLE_VA_NOSLEEP", "1") // what it proves a name with sleeps for seconds else, see startACME
	return apptest.WithAuthority(&authority, m.Run)
}

// await calls done until it returns true, and fails the test if that takes too long. It pauses for four times as long
// as the call took, and for at least 10 ms: a check that reads every file must not slow down the work it waits for.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	awaitWithin(t, patience, what, done)
}

// awaitWithin is await with another patience.
func awaitWithin(t *testing.T, patience time.Duration, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		began := time.Now()
		if done() {
			return
		}
		select {
		case <-time.After(max(10*time.Millisecond, 4*time.Since(began))):
		case <-ctx.Done():
			t.Fatalf("waited %s in vain, want %s", patience, what)
		}
	}
}

// need skips the test if a program is not installed, except in CI, where test/deps.sh has installed it.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		path, err = exec.LookPath(filepath.Join("/usr/sbin", program))
	}
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatalf("%s is missing, want it installed by test/deps.sh", program)
	default:
		t.Skipf("%s is missing; test/deps.sh installs it", program)
	}
	return path
}
