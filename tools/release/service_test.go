package main

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds a service that does not start.
const patience = 2 * time.Minute

// handedOut holds the ports that freeAddress has returned.
var handedOut = make(map[int]bool)

// freeAddress returns an address of loopback on which no process listened a moment ago. It returns none twice, and none whose port the
// system may give to a connection before the service listens there: on Linux those start at 32768.
func freeAddress(t *testing.T) string {
	t.Helper()
	const first, end = 10_000, 32_768
	for range 1000 {
		port := first + rand.IntN(end-first)
		if handedOut[port] {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue // a process listens there
		}
		handedOut[port] = true
		l.Close()
		return l.Addr().String()
	}
	t.Fatal("no free port was found in 1000 tries")
	return ""
}

// service is a gonebox that serves.
type service struct {
	t          *testing.T
	http, smtp string
	process    *exec.Cmd
	ended      chan error
}

// start starts a command line that serves, with addresses of its own in its environment, and waits until it is ready.
func start(t *testing.T, cmd *exec.Cmd) *service {
	t.Helper()
	s := &service{t: t, http: freeAddress(t), smtp: freeAddress(t), process: cmd, ended: make(chan error, 1)}
	cmd.Env = append(cmd.Env, "GONEBOX_HTTP_ADDR="+s.http, "GONEBOX_SMTP_ADDR="+s.smtp, "GONEBOX_DNS_RESOLVER=127.0.0.1:1", "GONEBOX_BASE_URL=http://"+s.http)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %q: %v", cmd.Args, err)
	}
	t.Cleanup(s.stop)
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "Try: ") { // the last line of its greeting
				ready <- true
				_, _ = io.Copy(io.Discard, out)
			}
		}
		s.ended <- cmd.Wait()
		close(s.ended)
	}()
	select {
	case <-ready:
	case err := <-s.ended:
		t.Fatalf("%q ended before it was ready: %v, want it ready\n%s", cmd.Args, err, errs.String())
	case <-time.After(patience):
		t.Fatalf("%q was not ready within %s, want it ready", cmd.Args, patience)
	}
	return s
}

// stop ends the service in order.
func (s *service) stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM)
	if err := <-s.ended; err != nil {
		s.t.Errorf("the service ends with %v", err)
	}
}

// readCode creates a mailbox, sends it a mail and reads its code, with a gonebox that need not be that of the service.
func (s *service) readCode(gonebox string) {
	s.t.Helper()
	home := s.t.TempDir()
	environ := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "GONEBOX_URL=http://" + s.http}
	address := strings.TrimSpace(output(s.t, home, environ, gonebox, "inbox", "new"))
	output(s.t, home, environ, gonebox, "send", "--server", s.smtp, "--to", address, "--code", "246810")
	if got := strings.TrimSpace(output(s.t, home, environ, gonebox, "inbox", "code")); got != "246810" {
		s.t.Errorf("gonebox inbox code prints %q, want 246810", got)
	}
}

// programHere extracts the archive for this machine and returns its program.
func programHere(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	name := made.archiveName(here)
	output(t, dir, nil, "tar", "-xzf", filepath.Join(made.dist, name))
	return filepath.Join(dir, strings.TrimSuffix(name, ".tar.gz"), "gonebox")
}

func TestArchiveReadsCode(t *testing.T) {
	program := programHere(t)
	version := output(t, "/", nil, program, "version")
	if whole() && !strings.HasPrefix(version, "gonebox "+made.version+",") {
		t.Errorf("gonebox version prints %q, want %s", version, made.version)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "serve", "--data-dir", t.TempDir())
	cmd.Env = os.Environ()
	start(t, cmd).readCode(program)
}
