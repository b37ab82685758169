// Package readme_test runs the commands of README.md with the built program, as a newcomer does.
package readme_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// The parts of README.md's commands that depend on the machine. The test replaces them.
const (
	httpAddress = "localhost:8080"
	smtpAddress = "localhost:2525"
	program     = "bin/gonebox"
)

// patience bounds the whole tour.
const patience = 2 * time.Minute

func TestMain(m *testing.M) { os.Exit(apptest.RunLong("the built program", m.Run)) }

func TestTourPrintsCode(t *testing.T) {
	binary := apptest.Program(t)
	http, smtp := apptest.Serve(t, binary)

	out, errs, err := run(t, tour(t), binary, http, smtp)
	if err != nil {
		t.Fatalf("the tour failed: %v\n%s\n%s", err, out, errs)
	}
	if !strings.HasSuffix(out, "\"code\":\"246810\"\n") || errs != "" {
		t.Errorf("the tour printed\n%s\n%s\nwant the code 246810 at the end, and no errors", out, errs)
	}
}

// When anything is missing, the tour reports it and prints nothing that looks like a code.
func TestTourFailsWithoutService(t *testing.T) {
	binary := apptest.Program(t)
	http, _ := apptest.Serve(t, binary)
	commands := strings.Replace(tour(t), "?wait=60", "?wait=1", 1)
	for _, tt := range []struct{ missing, http, smtp string }{
		{"the service", apptest.FreeAddress(t), apptest.FreeAddress(t)},
		{"the mail", http, apptest.FreeAddress(t)},
	} {
		out, errs, err := run(t, commands, binary, tt.http, tt.smtp)
		if err == nil || strings.Contains(out, `"code":`) || !strings.Contains(errs, "No code arrived") {
			t.Errorf("without %s the tour ended with %v, want an error, no code and a hint; it printed\n%s\n%s", tt.missing, err, out, errs)
		}
	}
}

func tour(t *testing.T) string {
	t.Helper()
	commands := section(t, "## A tour of 60 seconds")
	for _, word := range []string{httpAddress, smtpAddress, program, "?wait=60"} {
		if !strings.Contains(commands, word) {
			t.Fatalf("the tour no longer contains %q:\n%s\nwant %v in it", word, commands, word)
		}
	}
	return commands
}

// run pastes commands into a shell as a reader of README.md does, and returns the output and how the last command
// ended.
func run(t *testing.T, commands, binary, http, smtp string) (out, errs string, err error) {
	t.Helper()
	script := strings.NewReplacer(httpAddress, http, smtpAddress, smtp, program, binary).Replace(commands)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	shell := exec.CommandContext(ctx, "bash")
	shell.Stdin, shell.Stdout, shell.Stderr = strings.NewReader(script+"ended=$?; wait; exit $ended\n"), &stdout, &stderr
	err = shell.Run()
	return stdout.String(), stderr.String(), err
}

// section is the first block of commands below a heading of README.md.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(text), "\n"+heading+"\n")
	_, block, opened := strings.Cut(below, "```sh\n")
	block, _, closed := strings.Cut(block, "```\n")
	if !found || !opened || !closed {
		t.Fatalf("README.md has no commands below %q, want a block of them", heading)
	}
	return block
}
