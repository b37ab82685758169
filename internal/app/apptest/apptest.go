// Package apptest starts the whole service inside a test, on ports of its own and a clock that the test moves. It is for
// tests alone and asserts nothing itself but that its own calls work.
package apptest

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for Database

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
)

// Service is a running service.
type Service struct {
	URL   string      // of the API, with its base path
	SMTP  string      // host:port
	Clock *clock.Fake // nil where the test asked for the machine's
	Admin string      // URL of the metrics
	Dir   string      // data_dir

	t        testing.TB
	client   *http.Client
	onAnswer func(*http.Request, Answer)
	stop     func() error
}

// Options change the service under test.
type Options struct {
	Set       map[string]string           // configuration keys
	RealClock bool                        // the machine's clock instead of one that stands still
	Dir       string                      // data_dir; "": a new one
	App       app.Options                 // Clock and Logger are filled in
	Log       io.Writer                   // nil: nothing is kept
	OnAnswer  func(*http.Request, Answer) // hears of every answer to a call of the test; may be nil
}

// Noon is where the fake clock starts.
func Noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// Start runs a service until the test ends. It is on a loopback port with generous limits: a test of a limit sets it.
func Start(t testing.TB, o Options) *Service {
	t.Helper()
	s := &Service{t: t, Dir: o.Dir, onAnswer: o.OnAnswer, client: newClient(t)}
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	cfg, err := app.LoadConfig("", nil, s.settings(o.Set))
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

func (s *Service) settings(own map[string]string) map[string]string {
	set := map[string]string{
		"http.addr": "127.0.0.1:0", "smtp.addr": "127.0.0.1:0", "metrics.addr": "127.0.0.1:0", "data_dir": s.Dir,
		"dns.resolver": "127.0.0.1:1", "shutdown_grace": "5s",
		"limits.mailbox_create": "100000/1m", "limits.session": "100000/1m", "limits.reads": "100000/1m",
		"limits.other": "100000/1m", "limits.smtp_messages": "100000/1m",
	}
	maps.Copy(set, own)
	return set
}

// newClient is an HTTP client that shares nothing with other tests and leaves nothing behind.
func newClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (s *Service) run(a *app.App) {
	s.URL = "http://" + a.HTTPAddr().String() + "/api/v1"
	s.SMTP = a.SMTPAddr().String()
	s.Admin = "http://" + a.MetricsAddr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	s.t.Cleanup(func() {
		if err := s.stop(); err != nil {
			s.t.Errorf("stop the service: %v", err)
		}
	})
}

// Stop ends the service as SIGTERM does and returns its error; the test may start another in the same Dir.
func (s *Service) Stop() error { return s.stop() }

// Database opens what the service keeps its data in, beside the service, for a test that looks whether something is
// gone for good, or that breaks something.
func (s *Service) Database() *sql.DB {
	s.t.Helper()
	d, err := sql.Open("sqlite", "file:"+filepath.Join(s.Dir, "gonebox.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = d.Close() })
	return d
}
