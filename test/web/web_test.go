// Package web_test opens the visitor's page in headless Chromium against the built program, with mail that comes in over
// SMTP. The flows are in *.test.mjs; this file starts what they need.
package web_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// timeout bounds all flows together. They take some 30 s; it is not a measurement.
const timeout = 5 * time.Minute

// modules is where make web installs the driver of the browser.
const modules = "../../web/node_modules"

func TestMain(m *testing.M) { os.Exit(apptest.RunLong("Node and Chromium", m.Run)) }

func TestTheVisitorsPageInABrowser(t *testing.T) {
	node, chromium := program(t, "node"), program(t, "chromium")
	if _, err := os.Stat(filepath.Join(modules, "playwright-core")); err != nil {
		t.Skip("the driver of the browser is not installed: run make web")
	}
	http, smtp := serve(t, build(t))
	flows, err := filepath.Glob("*.test.mjs")
	if err != nil || len(flows) == 0 {
		t.Fatalf("no flows were found: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{"--test", "--test-concurrency=2", "--test-reporter=spec"}, flows...)...)
	cmd.Env = append(os.Environ(), "GONEBOX_URL=http://"+http, "GONEBOX_SMTP="+smtp, "CHROMIUM="+chromium)
	if out, err := cmd.CombinedOutput(); err != nil || testing.Verbose() {
		t.Logf("%s", out)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// program returns the path of a program; without it the test is skipped.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on this machine", name)
	}
	return path
}

// build builds gonebox and returns its path.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "gonebox")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/gonebox")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	return binary
}

// serve starts the program and returns the addresses of its listeners once it is ready.
func serve(t *testing.T, binary string) (http, smtp string) {
	t.Helper()
	http, smtp = freeAddress(t), freeAddress(t)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, "serve", "--data-dir", t.TempDir(), "--http-addr", http, "--smtp-addr", smtp,
		"--set", "base_url=http://"+http, "--set", "dns.resolver=127.0.0.1:1", "--set", "limits.mailbox_create=1000/1m",
		"--set", "limits.reads=10000/1m")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // reports the interrupt
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "Try: ") { // the last line of its greeting
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return http, smtp
		}
	}
	t.Fatalf("the program ended before it was ready: %v", lines.Err())
	return "", ""
}

// freeAddress returns a loopback address that no process listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
