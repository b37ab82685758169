package system_test

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// options change how a service is started.
type options struct {
	set  map[string]string // configuration keys
	wrap []string          // a command that runs the program: strace, prlimit
	dir  string            // data folder; "": a new one
	path string            // of the program; "": the one under test

	announce func(http string) // called with the HTTP address before the program starts; may be nil
}

// service is the running program, whose ports and data folder stay the same over restarts.
type service struct {
	api
	smtp string // host:port
	dir  string

	t       *testing.T
	o       options
	http    string // host:port
	metrics string // host:port
	proc    *process
}

// start starts a service and waits until it is ready. The service ends with the test.
func start(t *testing.T, o options) *service {
	t.Helper()
	s := &service{t: t, o: o, dir: o.dir}
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("the end of its log:\n%s", tail(s.proc.err.String(), 2000))
		}
	})
	s.restart()
	return s
}

// restart starts the program on the service's data folder. The process before must have ended.
func (s *service) restart() {
	s.t.Helper()
	for try := 1; ; try++ {
		if s.http == "" || try > 1 {
			s.http, s.smtp, s.metrics = apptest.FreeAddress(s.t), apptest.FreeAddress(s.t), apptest.FreeAddress(s.t)
		}
		s.api = api{t: s.t, url: s.scheme() + "://" + s.http + "/api/v1"}
		if s.o.announce != nil {
			s.o.announce(s.http)
		}
		s.proc = launchLine(s.t, slices.Concat(s.o.wrap, []string{cmp.Or(s.o.path, program(s.t))}, s.arguments()))
		await(s.t, "readiness", func() bool { return !s.proc.running() || s.ready() })
		if s.proc.running() {
			return
		}
		if taken := strings.Contains(s.proc.err.String(), "address already in use"); !taken || try == 10 {
			s.t.Fatalf("the service ended at once, on try %d: %s, want it ready", try, s.proc.err.String())
		}
	}
}

// greeting waits for what the program says on standard output when it has started: it is ready a moment before that.
func (s *service) greeting() (said string) {
	s.t.Helper()
	await(s.t, "the greeting", func() bool {
		said = s.proc.out.String()
		return strings.Contains(said, "Try: ") && strings.HasSuffix(said, "\n")
	})
	return said
}

// arguments are those of gonebox serve. The limits are high: a test of a limit sets it.
func (s *service) arguments() []string {
	set := map[string]string{
		"http.addr": s.http, "smtp.addr": s.smtp, "metrics.addr": s.metrics, "base_url": s.scheme() + "://" + s.http, "dns.resolver": "127.0.0.1:1",
		"mailbox.max_messages": "1000000", "plans.guest.mail.daily.max": "1000000", "limits.smtp_messages": "1000000/1m",
		"limits.mailbox_create": "100000/1m", "limits.reads": "1000000/1m", "limits.http_connections": "100000", "limits.other": "1000000/1m",
	}
	maps.Copy(set, s.o.set)
	args := []string{"serve", "--data-dir", s.dir}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		args = append(args, "--set", key+"="+set[key])
	}
	return args
}

// scheme is that of the service's HTTP address.
func (s *service) scheme() string {
	if s.o.set["http.tls.cert"]+s.o.set["http.tls.acme.hosts"] != "" {
		return "https"
	}
	return "http"
}

func (s *service) ready() bool {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	res, err := client.Get(s.scheme() + "://" + s.http + "/readyz")
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// scrape returns the metrics of the process, or "" while it does not answer.
func (s *service) scrape() string {
	res, err := http.Get("http://" + s.metrics + "/metrics")
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}

func (s *service) kill() { s.proc.kill() }

// stop ends the service gracefully.
func (s *service) stop() {
	s.t.Helper()
	s.proc.signal(syscall.SIGTERM)
	if code := s.proc.wait(s.t); code != 0 {
		s.t.Errorf("the service ended with status %d, want 0", code)
	}
}

func tail(text string, n int) string {
	if cut := len(text) - n; cut > 0 {
		return fmt.Sprintf("(%d bytes before)\n%s", cut, text[cut:])
	}
	return text
}
