// Package webhookdocs_test extracts the receivers from docs/webhooks.md and runs them against genuine and forged
// deliveries, so that what a reader copies from the page works.
package webhookdocs_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

const page = "../../docs/webhooks.md"

// receiver is one of the page's programs, in one language.
type receiver struct {
	name  string
	fence string // the info string of its block
	file  string
	ready func(t *testing.T, dir string) (command []string) // makes what lies in dir a program
}

func receivers() []receiver {
	return []receiver{
		{"Go", "go", "main.go", goProgram},
		{"TypeScript", "ts", "receiver.ts", nodeProgram},
		{"Python", "python", "receiver.py", func(t *testing.T, _ string) []string { return []string{apptest.LookPath(t, "python3"), "receiver.py"} }},
	}
}

func goProgram(t *testing.T, dir string) []string {
	t.Helper()
	write(t, filepath.Join(dir, "go.mod"), "module receiver\n\ngo 1.26\n")
	build := exec.CommandContext(t.Context(), apptest.LookPath(t, "go"), "build", "-o", "receiver", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the receiver: %v\n%s", err, out)
	}
	return []string{filepath.Join(dir, "receiver")}
}

// withoutTypes strips the TypeScript syntax that the page uses, since node 20 cannot run it.
func withoutTypes(source string) string {
	return strings.NewReplacer(", type IncomingHttpHeaders", "", ": IncomingHttpHeaders", "", ": Buffer[]", "", ": Buffer", "",
		": string | null", "", ": string", "", "<string>", "").Replace(source)
}

func nodeProgram(t *testing.T, dir string) []string {
	t.Helper()
	node := apptest.LookPath(t, "node")
	source, err := os.ReadFile(filepath.Join(dir, "receiver.ts"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "receiver.mjs"), withoutTypes(string(source)))
	return []string{node, "receiver.mjs"}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// block is the code of the page in one language.
func block(t *testing.T, fence string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n```"+fence+"\n")
	code, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed || strings.Contains(rest, "\n```"+fence+"\n") {
		t.Fatalf("%s has no block of %s, or several, want one", page, fence)
	}
	return code + "\n"
}

// running is a receiver that is listening for deliveries signed with a secret.
type running struct {
	url   string
	lines chan string // what it prints; closed when it ends
}

// taken extracts the receiver from the page and returns a function that starts it with a secret.
func (r receiver) taken(t *testing.T) func(secret string) running {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, r.file), block(t, r.fence))
	command := r.ready(t, dir)
	return func(secret string) running { return start(t, dir, command, secret) }
}

func start(t *testing.T, dir string, command []string, secret string) running {
	t.Helper()
	_, port, _ := net.SplitHostPort(apptest.FreeAddress(t))
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret, "PORT="+port)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	run := running{"http://127.0.0.1:" + port + "/gonebox", make(chan string, 64)}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(run.lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			run.lines <- scan.Text()
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		reading.Wait()
		_ = cmd.Wait()
	})
	listening(t, "127.0.0.1:"+port)
	return run
}

// printed is what the receiver prints, up to a line that ends it.
func (r running) printed(t *testing.T, last string) string {
	t.Helper()
	var all []string
	for line := r.line(t); line != last; line = r.line(t) {
		all = append(all, line)
	}
	return strings.Join(all, " ")
}

// take returns the next n lines that the receiver prints.
func (r running) take(t *testing.T, n int) string {
	t.Helper()
	all := make([]string, n)
	for i := range all {
		all[i] = r.line(t)
	}
	return strings.Join(all, " ")
}

// line returns the next line; it waits a minute at most.
func (r running) line(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case line, ok := <-r.lines:
		if ok {
			return line
		}
	case <-ctx.Done():
	}
	t.Fatal("the receiver prints no more, want a line")
	return ""
}

// listening waits until a process accepts connections, a minute at most.
func listening(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("the receiver does not listen at %s, want it to", address)
}
