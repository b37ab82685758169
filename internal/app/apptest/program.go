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

// LookPath returns the path of a program that a test needs. Without the program the test is skipped.
func LookPath(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on this machine", name)
	}
	return path
}

// Serve starts a built gonebox on an empty data folder, with further settings, each "key=value"; the last one of a key
// counts. It returns the HTTP and SMTP addresses once the program says that it is ready, and ends the program with the test.
func Serve(t testing.TB, binary string, settings ...string) (http, smtp string) {
	t.Helper()
	http, smtp = FreeAddress(t), FreeAddress(t)
	args := []string{
		"serve", "--set", "data_dir=" + t.TempDir(), "--http-addr", http, "--smtp-addr", smtp,
		"--set", "base_url=http://" + http, "--set", "dns.resolver=127.0.0.1:1",
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
		if strings.HasPrefix(lines.Text(), "Try: ") { // the last line of its greeting
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return http, smtp
		}
	}
	t.Fatalf("the program ended before it was ready: %v", lines.Err())
	return "", ""
}
