// Package apptest starts the whole service inside a test, on ports of its own, with a fake clock, on either engine. It
// is for tests only.
//
// Start returns a Service, whose methods call the API (Call), send mail (Send), open event streams (OpenStream), and
// stop it (Stop); the end of the test stops it too. On SQLite the service runs in the test's own process. With
// Options.Processes it runs as several processes on one PostgreSQL. They are copies of the test program in which Child,
// called by TestMain, serves one test after the other. Clock moves the time of all processes at once.
//
// The helpers fail the test if a call that must work does not; what a response contains is for the test to check.
// Package apptest also has a certificate authority and receivers for webhooks (Authority, Receiver).
package apptest

import (
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // for Database
	_ "modernc.org/sqlite"             // for Database

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// Service is a running service. Its methods may be called from several goroutines of the test, except Stop.
type Service struct {
	URL   string // URL of the API, with its base path
	SMTP  string // host:port
	Clock *Clock // nil with Options.RealClock
	Admin string // URL of the metrics
	SMTPS string // host:port of SMTP over TLS; "" where it is off
	// Mailpit is the URL of the Mailpit API; "" where it is off.
	Mailpit string
	// MailTM is the URL of the mail.tm API; "" where it is off.
	MailTM string
	Jobs   string // host:port of HTTP of the process with the role jobs
	Dir    string // data_dir; with several processes, the directory that contains theirs

	t          testing.TB
	client     *http.Client
	onResponse func(*http.Request, Response)
	database   string        // PostgreSQL URL; empty: SQLite in Dir
	instances  []instance    // the processes, in the order of Options.Processes
	turn       atomic.Uint64 // counts clients; see next
	edges      []addresses   // of the processes with the role api

	outsideOnce sync.Once
	outside     *sql.DB // opened by Database
}

// Options change the service under test.
type Options struct {
	Set        map[string]string             // configuration keys
	RealClock  bool                          // use the system clock instead of one that the test moves
	Dir        string                        // data_dir; empty: a new one
	App        app.Options                   // Clock and Logger are filled in
	Log        io.Writer                     // nil: the log is discarded
	OnResponse func(*http.Request, Response) // called for every response to a call of the test; may be nil

	// Processes are the roles of each process of a service on one PostgreSQL: those with the role api come first, and
	// the last one has the role jobs. Calls and mails go to them in turn. The test program's TestMain must call Child.
	// Empty means one process with all roles, on SQLite.
	Processes []string
}

// Noon returns the time at which the fake clock starts.
func Noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// Start runs a service until the test ends, on loopback ports and with high limits: a test of a limit sets it.
func Start(t testing.TB, o Options) *Service {
	t.Helper()
	s := &Service{t: t, Dir: o.Dir, onResponse: o.OnResponse, client: newClient(t)}
	if s.Dir == "" {
		s.Dir = t.TempDir()
		if len(o.Processes) == 0 {
			dbtest.Prepare(t, s.file())
		}
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	var fake *clock.Fake
	if !o.RealClock {
		fake = clock.NewFake(Noon())
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop the service: %v", err)
		}
		// The testing package keeps what a parallel test cleaned up until all tests have ended: hundreds of services, a gigabyte.
		clear(s.instances)
	})
	if len(o.Processes) == 0 {
		s.startHere(o, fake)
	} else {
		s.startCluster(o, fake)
	}
	if fake != nil {
		s.Clock = &Clock{t: t, fake: fake, all: s.instances}
	}
	last := s.instances[len(s.instances)-1]
	s.Jobs = strings.TrimPrefix(last.addresses().Web, "http://")
	s.Mailpit, s.MailTM = s.edges[0].Mailpit, s.edges[0].MailTM
	s.URL, s.SMTP, s.Admin = s.edges[0].Web+"/api/v1", s.edges[0].SMTP, s.edges[0].Admin
	s.SMTPS = s.edges[0].SMTPS
	return s
}

// file is the path of the SQLite database.
func (s *Service) file() string { return filepath.Join(s.Dir, "gonebox.db") }

// startHere runs the whole service in this process.
func (s *Service) startHere(o Options, fake *clock.Fake) {
	s.t.Helper()
	if fake != nil {
		o.App.Clock = fake
	}
	o.App.Logger = slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	l, err := newLocal(s.t.Context(), s.settings(o.Set), o.App)
	if err != nil {
		s.t.Fatal(err)
	}
	l.fake = fake
	s.instances, s.edges = []instance{l}, []addresses{l.addresses()}
}

// settings returns the configuration keys of a service under test, overridden by own. The resolver is an address that
// refuses, so that no test asks the network.
func (s *Service) settings(own map[string]string) map[string]string {
	set := map[string]string{
		"http.addr": "127.0.0.1:0", "smtp.addr": "127.0.0.1:0", "metrics.addr": "127.0.0.1:0", "smtp.tls.addr": "", "data_dir": s.Dir,
		"dns.resolver": "127.0.0.1:1", "shutdown_grace": "1m", "database.timeout": "1m",
		"limits.mailbox_create": "100000/1m", "limits.session": "100000/1m", "limits.reads": "100000/1m", "limits.inject": "100000/1m",
		"limits.http_connections": "100000", "limits.other": "100000/1m", "limits.smtp_messages": "100000/1m",
	}
	maps.Copy(set, own)
	return set
}

// newClient is an HTTP client that shares no connections with other tests and leaves none behind.
func newClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Stop shuts the service down as SIGTERM does and returns its error. The test may then start another one in the same
// Dir. Calling it again returns the same error.
func (s *Service) Stop() error {
	faults := make([]error, len(s.instances))
	var stopping sync.WaitGroup
	for n, i := range s.instances {
		stopping.Go(func() { faults[n] = i.stop() })
	}
	stopping.Wait()
	return errors.Join(faults...)
}

// Sleepers returns how many long-polls of the service are waiting, for a test that must act only once a call waits.
func (s *Service) Sleepers() int {
	s.t.Helper()
	n := 0
	for _, i := range s.instances {
		each, err := i.count(sleepers)
		if err != nil {
			s.t.Fatalf("count waiting long-polls: %v", err)
		}
		n += each
	}
	return n
}

// next is the process that serves the next client, so that tests of several processes use all of them.
func (s *Service) next() addresses {
	return s.edges[s.turn.Add(1)%uint64(len(s.edges))]
}

// OnPostgres reports whether the service keeps its data in PostgreSQL.
func (s *Service) OnPostgres() bool { return s.database != "" }

// Database opens the service's database from outside, for a test that checks that something is erased, or that
// corrupts something. The end of the test closes it. Later calls return the same one, so that a test may call it until something holds.
func (s *Service) Database() *sql.DB {
	s.t.Helper()
	s.outsideOnce.Do(s.openOutside)
	if s.outside == nil {
		s.t.Fatal("the service's database could not be opened from outside")
	}
	return s.outside
}

func (s *Service) openOutside() {
	driver, source := "sqlite", "file:"+s.file()+"?_pragma=busy_timeout(60000)"
	if s.database != "" {
		driver, source = "pgx", s.database
	}
	d, err := sql.Open(driver, source)
	if err != nil {
		s.t.Errorf("open %s: %v", source, err)
		return
	}
	s.t.Cleanup(func() { _ = d.Close() })
	s.outside = d
}
