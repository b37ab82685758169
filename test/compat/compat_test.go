// Package compat_test runs clients of Mailpit, MailHog and mail.tm, as they are published, against Gonebox, and checks the OpenAPI
// document with the tools that its readers use: a linter, and generators of clients. Each folder has what it needs from npm.
package compat_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestMain(m *testing.M) {
	os.Exit(apptest.RunLong("Node, the clients and generators from npm, and to compile a client", m.Run))
}

// installed skips the test where packages of npm cannot be installed, and fails it where the one that it needs is not.
func installed(t *testing.T, folder, name string) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", name)); err != nil {
		t.Fatalf("make test/compat/%s/node_modules installs %s: %v", folder, name, err)
	}
}

// start starts a service.
func start(t *testing.T, set map[string]string) *apptest.Service {
	t.Helper()
	all := map[string]string{"account.password.memory": "8KiB"}
	maps.Copy(all, set)
	return apptest.Start(t, apptest.Options{RealClock: true, Set: all})
}

// runFlow runs a script of a folder with a client against a service. The script prints ok if all holds.
func runFlow(t *testing.T, folder, script string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", slices.Concat([]string{script}, args)...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Errorf("node %s %s: %v: %s, want ok", script, strings.Join(args, " "), err, out)
	}
}
