package apptest

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// LookPath returns the path of a program that a test needs: of the first one of these names that is there. Without the program the
// test is skipped.
func LookPath(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("%s is not on this machine", strings.Join(names, " or "))
	return ""
}

// Serve starts a built gonebox on an empty data folder, with further settings, each "key=value"; the last one of a key
// counts. Hashing a password is cheap. It returns the HTTP and SMTP addresses once the program says that it is ready, and ends the
// program with the test.
func Serve(t testing.TB, binary string, settings ...string) (http, smtp string) {
	t.Helper()
	http, smtp, _ = ServeWithGreeting(t, binary, settings...)
	return http, smtp
}

// ServeWithGreeting is Serve that also returns what the program says when it is ready.
func ServeWithGreeting(t testing.TB, binary string, settings ...string) (http, smtp, greeting string) {
	t.Helper()
	http, smtp = FreeAddress(t), FreeAddress(t)
	args := []string{
		"serve", "--set", "data_dir=" + t.TempDir(), "--http-addr", http, "--smtp-addr", smtp,
		"--set", "base_url=http://" + http, "--set", "dns.resolver=127.0.0.1:1",
		"--set", "account.password.memory=64KiB", "--set", "account.password.passes=1",
	}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // an orderly end
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // reports the interrupt
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		greeting += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "Try: ") { // the last line of its greeting
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return http, smtp, greeting
		}
	}
	t.Fatalf("%s serve ended before it was ready: %v, want a line that says that it is ready", binary, lines.Err())
	return "", "", ""
}
