// Package apptest starts the whole service inside a test, on ports of its own and a clock that the test moves. It is for
// tests alone and asserts nothing itself but that its own calls work.
package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
)

// Service is a running service.
type Service struct {
	URL   string      // of the API, with its base path
	SMTP  string      // host:port
	Clock *clock.Fake // nil where the test asked for the machine's
	Admin string      // URL of the metrics, where they are on
	Dir   string      // data_dir

	t    testing.TB
	stop func() error
}

// Options change the service under test.
type Options struct {
	Set       map[string]string // configuration keys
	RealClock bool              // the machine's clock instead of one that stands still
	Dir       string            // data_dir; "": a new one
	App       app.Options       // Clock and Logger are filled in
	Log       io.Writer         // nil: nothing is kept
}

// Noon is where the fake clock starts.
func Noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// Start runs a service until the test ends. It is on a loopback port with generous limits: a test of a limit sets it.
func Start(t testing.TB, o Options) *Service {
	t.Helper()
	s := &Service{t: t, Dir: o.Dir}
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	set := map[string]string{
		"http.addr": "127.0.0.1:0", "smtp.addr": "127.0.0.1:0", "metrics.addr": "127.0.0.1:0", "data_dir": s.Dir,
		"dns.resolver": "127.0.0.1:1", "shutdown_grace": "5s",
		"limits.mailbox_create": "100000/1m", "limits.session": "100000/1m", "limits.reads": "100000/1m",
		"limits.other": "100000/1m", "limits.smtp_messages": "100000/1m",
	}
	for k, v := range o.Set {
		set[k] = v
	}
	cfg, err := app.LoadConfig("", nil, set)
	if err != nil {
		t.Fatal(err)
	}
	if !o.RealClock {
		s.Clock = clock.NewFake(Noon())
		o.App.Clock = s.Clock
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	o.App.Logger = slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, err := app.New(t.Context(), cfg, o.App)
	if err != nil {
		t.Fatal(err)
	}
	s.run(a)
	return s
}

func (s *Service) run(a *app.App) {
	s.URL = "http://" + a.HTTPAddr().String() + "/api/v1"
	s.SMTP = a.SMTPAddr().String()
	s.Admin = "http://" + a.MetricsAddr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stopped := false
	s.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	s.t.Cleanup(func() {
		if err := s.stop(); err != nil {
			s.t.Errorf("stop the service: %v", err)
		}
	})
}

// Stop ends the service as SIGTERM does and returns its error; the test may start another in the same Dir.
func (s *Service) Stop() error { return s.stop() }

// Answer is what a call got.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Call makes a request of the API. A body that is not nil is sent as JSON; a []byte as it is. A token that is not empty
// goes into Authorization.
func (s *Service) Call(method, path, token string, body any) Answer {
	s.t.Helper()
	a, err := s.TryCall(s.t.Context(), method, path, token, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// TryCall is Call with a context of its own and the error, for requests that are meant to break off.
func (s *Service) TryCall(ctx context.Context, method, path, token string, body any) (Answer, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		reader = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return Answer{}, err
		}
		reader = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.URL+path, reader)
	if err != nil {
		return Answer{}, err
	}
	if reader != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return Do(r)
}

// Do sends a request that the test made itself.
func Do(r *http.Request) (Answer, error) {
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return Answer{}, err
	}
	text, err := io.ReadAll(res.Body)
	return Answer{Status: res.StatusCode, Header: res.Header, Body: text}, errors.Join(err, res.Body.Close())
}

// Code is the code of a problem, or "".
func (a Answer) Code() string {
	var p struct{ Code string }
	_ = json.Unmarshal(a.Body, &p)
	return p.Code
}

// Into decodes the data of an answer.
func (a Answer) Into(t testing.TB, v any) {
	t.Helper()
	whole := struct{ Data any }{v}
	if err := json.Unmarshal(a.Body, &whole); err != nil {
		t.Fatalf("status %d, decode %s: %v", a.Status, a.Body, err)
	}
}

// Mailbox is what creating one answers.
type Mailbox struct{ ID, Address, Token string }

// NewMailbox creates a guest mailbox.
func (s *Service) NewMailbox() Mailbox {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/mailboxes", "", nil)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("create a mailbox: %d %s", a.Status, a.Body)
	}
	var m Mailbox
	a.Into(s.t, &m)
	return m
}
