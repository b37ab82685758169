package flows

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	gonebox "github.com/gonebox/gonebox/clients/go"
	"github.com/gonebox/gonebox/clients/go/goneboxtest"
)

func faultyMailbox(t *testing.T, key ...string) *gonebox.Mailbox {
	t.Helper()
	m, err := gonebox.New(os.Getenv("FAULTY_URL"), key...).CreateMailbox(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWaitOutlivesARestart(t *testing.T) {
	m := faultyMailbox(t)
	o := gonebox.WaitOptions{Timeout: time.Minute}
	message, err := m.WaitForMessage(ctx, o)
	if err != nil {
		t.Fatalf("WaitForMessage: %v", err)
	}
	check(t, message.Subject, err, "After the restart")
	code, err := m.WaitForCode(ctx, o)
	check(t, code, err, "246810")
	link, err := m.WaitForLink(ctx, o)
	check(t, link, err, "https://shop.example/verify")
}

// waits are the waits of a mailbox, by their names.
func waits(m *gonebox.Mailbox, o gonebox.WaitOptions) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"WaitForCode":     func(ctx context.Context) error { _, err := m.WaitForCode(ctx, o); return err },
		"WaitForLink":     func(ctx context.Context) error { _, err := m.WaitForLink(ctx, o); return err },
		"WaitForMessage":  func(ctx context.Context) error { _, err := m.WaitForMessage(ctx, o); return err },
		"ExpectNoMessage": func(ctx context.Context) error { return m.ExpectNoMessage(ctx, o) },
	}
}

func TestWaitThatCannotGoOnSaysWhatItWaitedFor(t *testing.T) {
	m := faultyMailbox(t, "xu_down")
	for name, wait := range waits(m, gonebox.WaitOptions{Timeout: 30 * time.Second}) { // less than Retry-After
		err := wait(ctx)
		var problem *gonebox.Error
		if !errors.As(err, &problem) || problem.Code != "server.unavailable" || problem.Status != 503 || problem.RetryAfter != 600*time.Second {
			t.Errorf("%s: %#v, want server.unavailable with 503 and the Retry-After", name, err)
		}
		if want := name + " (down@faulty.example) failed after "; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %q, want %q at the beginning", name, err, want)
		}
	}
}

// A deadline of the caller is not reported as a fault of the service, whether the service answers, is silent or is gone.
func TestDeadlineOfTheCallerIsReportedAsWhatItIs(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	s := goneboxtest.Start(t)
	real := s.Mailbox(t)
	for service, url := range map[string]string{"answers": s.URL, "is silent": "http://" + silent.Addr().String(), "is gone": "http://127.0.0.1:1"} {
		m := relocated(t, s, real, url)
		for name, wait := range waits(m, gonebox.WaitOptions{Timeout: time.Minute}) {
			limited, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			err := wait(limited)
			cancel()
			var problem *gonebox.Error
			if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &problem) || !strings.HasPrefix(err.Error(), name+" ("+m.Address+") failed after ") {
				t.Errorf("%s with a deadline where the service %s: %v, want context.DeadlineExceeded after the name of the wait", name, service, err)
			}
			canceled, cancel := context.WithCancel(ctx)
			time.AfterFunc(100*time.Millisecond, cancel)
			if err := wait(canceled); !errors.Is(err, context.Canceled) {
				t.Errorf("%s that is canceled where the service %s: %v, want context.Canceled", name, service, err)
			}
		}
	}
	limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := gonebox.New("http://" + silent.Addr().String()).CreateMailbox(limited); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "no Gonebox") {
		t.Errorf("CreateMailbox with a deadline: %v, want context.DeadlineExceeded", err)
	}
}

// relocated returns a mailbox that calls another URL than that of its service.
func relocated(t *testing.T, s *goneboxtest.Service, m *gonebox.Mailbox, url string) *gonebox.Mailbox {
	t.Helper()
	if url == s.URL {
		return m
	}
	moved := *s.Gonebox
	moved.URL = url
	other, err := moved.CreateMailbox(ctx) // by the client of the service, for the URL
	if err != nil {
		t.Fatal(err)
	}
	return other
}

func TestWaitAtADeadAddressEndsWithItsTime(t *testing.T) {
	s := goneboxtest.Start(t)
	m := relocated(t, s, nil, "http://127.0.0.1:1")
	began := time.Now()
	_, err := m.WaitForCode(ctx, gonebox.WaitOptions{Timeout: time.Second})
	var problem *gonebox.Error
	if !errors.As(err, &problem) || problem.Code != "client.unreachable" || time.Since(began) < time.Second {
		t.Errorf("WaitForCode: %v after %v, want client.unreachable after a second", err, time.Since(began))
	}
	for _, part := range []string{"WaitForCode (" + m.Address + ") failed after ", "no Gonebox answers at http://127.0.0.1:1 (GET /mailboxes/me/messages: dial tcp"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("WaitForCode: %q, want %q in it", err, part)
		}
	}
}

func TestInvalidKeyIsNotShown(t *testing.T) {
	for _, key := range []string{"x_abc_secret\n", "x_abc_secret\r\nX-More: 1", "x_abc_sécret", "x_abc secret", "“x_abc_secret”"} {
		for code, g := range map[string]*gonebox.Gonebox{"client.invalid_key": gonebox.New("http://localhost:8080", key), "client.invalid_url": gonebox.New(key, "http://localhost:8080")} {
			_, err := g.CreateMailbox(ctx)
			var problem *gonebox.Error
			if !errors.As(err, &problem) || problem.Code != code || strings.Contains(err.Error(), "abc") {
				t.Errorf("CreateMailbox with the key %q: %v, want %s without the key", key, err, code)
			}
		}
	}
}

// occupied is a program that ends the first time as gonebox does if another process has its port, and is gonebox from then on.
const occupied = `#!/bin/sh
[ -e "$0.tried" ] && exec "$REAL_BINARY" "$@"
touch "$0.tried"
echo "http.addr: listen tcp 127.0.0.1:1: bind: address already in use" >&2
exit 1
`

func TestServiceTakesOtherPortsWhereItsOwnAreTaken(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gonebox")
	if err := os.WriteFile(program, []byte(occupied), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("REAL_BINARY", os.Getenv("GONEBOX_BINARY"))
	t.Setenv("GONEBOX_BINARY", program)
	_, stop, err := goneboxtest.StartService()
	if err != nil {
		t.Fatalf("StartService: %v, want a service on other ports", err)
	}
	stop()
}

// TestHelperStartsService is a test run of its own, which TestServiceEndsWithTheTestRun ends.
func TestHelperStartsService(t *testing.T) {
	end := os.Getenv("END")
	if end == "" {
		t.Skip("a part of TestServiceEndsWithTheTestRun")
	}
	s := goneboxtest.Start(t)
	children, err := exec.Command("pgrep", "-P", fmt.Sprint(os.Getpid()), "gonebox").Output()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("child", strings.TrimSpace(string(children)), s.URL)
	switch end {
	case "exit":
		os.Exit(1)
	case "crash":
		go func() { panic("a crash") }()
	}
	time.Sleep(10 * time.Minute)
}

func TestServiceEndsWithTheTestRun(t *testing.T) {
	for _, end := range []any{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL, "exit", "crash", "timeout"} {
		t.Run(fmt.Sprint(end), func(t *testing.T) {
			t.Parallel()
			serviceEndsWith(t, end)
		})
	}
}

// serviceEndsWith starts a test run that starts a service, and checks that the service ends with it.
func serviceEndsWith(t *testing.T, end any) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperStartsService$", "-test.timeout=10m")
	if end == "timeout" {
		cmd.Args[2] = "-test.timeout=30s" // a busy machine starts the service within it
	}
	cmd.Env = append(os.Environ(), "GONEBOX_URL=", fmt.Sprint("END=", end))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var child, url string
	line, _ := bufio.NewReader(out).ReadString('\n')
	if _, err := fmt.Sscanf(line, "child %s %s", &child, &url); err != nil {
		t.Fatalf("the test run that ends with %v printed %q: %v", end, line, err)
	}
	if s, ok := end.(syscall.Signal); ok {
		_ = cmd.Process.Signal(s)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat("/proc/" + child); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the service runs a minute after its test run ended with %v, want it ended too", end)
		}
	}
}
