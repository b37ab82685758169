package apptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
)

// instance is one process of a service under test: this process or a child.
type instance interface {
	addresses() addresses
	advance(time.Duration) error // moves its clock
	count(what) (int, error)
	stop() error // shuts down as SIGTERM does
}

// addresses are where a process listens: URLs, and a host:port for SMTP and SMTPS. SMTPS, Mailpit and MailTM are "" where they are off.
type addresses struct{ Web, SMTP, SMTPS, Admin, Mailpit, MailTM string }

// what names a count that a process reports of itself.
type what string

const (
	timers   what = "timers"   // pending timers of its clock
	sleepers what = "sleepers" // waiting long-polls
	atWork   what = "at work"  // goroutines of schedules and queues that are not asleep
)

// local is the service in this process. end shuts it down; it may be called more than once.
type local struct {
	app     *app.App
	fake    *clock.Fake // nil: the system clock
	working func() int  // app.App.Working
	end     func() error
}

// newLocal starts the service and returns when its ports accept connections.
func newLocal(ctx context.Context, settings map[string]string, o app.Options) (*local, error) {
	cfg, err := config.Load("", nil, settings)
	if err != nil {
		return nil, err
	}
	a, err := app.New(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	return &local{app: a, working: a.Working, end: sync.OnceValue(func() error {
		cancel()
		return <-ended
	})}, nil
}

func (l *local) addresses() addresses {
	a := addresses{Web: "http://" + l.app.HTTPAddr().String(), Admin: "http://" + l.app.MetricsAddr().String()}
	if smtp := l.app.SMTPAddr(); smtp != nil {
		a.SMTP = smtp.String()
	}
	if smtps := l.app.SMTPSAddr(); smtps != nil {
		a.SMTPS = smtps.String()
	}
	if mailpit := l.app.MailpitAddr(); mailpit != nil {
		a.Mailpit = "http://" + mailpit.String()
	}
	if mailtm := l.app.MailTMAddr(); mailtm != nil {
		a.MailTM = "http://" + mailtm.String()
	}
	return a
}

func (l *local) advance(d time.Duration) error {
	l.fake.Advance(d)
	return nil
}

// count returns a count of the service in this process.
func (l *local) count(w what) (int, error) {
	switch w {
	case timers:
		return l.fake.Waiting(), nil
	case sleepers:
		return l.app.Waiting(), nil
	case atWork:
		return l.working(), nil
	}
	return 0, fmt.Errorf("%s cannot be counted", w)
}

func (l *local) stop() error { return l.end() }

// childVariable is the environment variable that makes the test program a child.
const childVariable = "GONEBOX_APPTEST_CHILD"

// request is what a parent asks of its child, and answer is the child's reply; each is a line of JSON.
type (
	request struct {
		Start   *start        `json:",omitempty"`
		Advance time.Duration `json:",omitempty"`
		Count   what          `json:",omitempty"`
		Stop    bool          `json:",omitempty"`
	}
	start struct {
		Settings map[string]string
		Now      time.Time // where the fake clock starts; zero: the system clock
	}
	answer struct {
		Addresses addresses
		Count     int
		Error     string
	}
)

// Child must be the first call of the TestMain of a package that starts services of several processes. A child is the
// same test program, started again: in it Child serves until the parent ends, and does not return.
func Child() {
	if os.Getenv(childVariable) == "" {
		return
	}
	if err := serveParent(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "process of the service under test:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveParent executes requests of the parent until its pipe is closed, as when the parent ends. A child runs one service
// at a time, and any number one after the other.
func serveParent(from io.Reader, to io.Writer) error {
	var l *local
	in, out := json.NewDecoder(from), json.NewEncoder(to)
	for {
		var r request
		err := in.Decode(&r)
		if err == io.EOF && l != nil {
			return l.stop()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := out.Encode(serveRequest(&l, r)); err != nil {
			return err
		}
	}
}

// serveRequest executes a request. The first one, and the one after Stop, must be Start.
func serveRequest(l **local, r request) answer {
	switch {
	case r.Start != nil:
		made, err := r.Start.serve()
		*l = made
		return answerOf(made, 0, err)
	case r.Stop:
		if *l == nil { // it did not start
			return answer{}
		}
		err := (*l).stop()
		*l = nil
		return answerOf(nil, 0, err)
	case r.Count != "":
		n, err := (*l).count(r.Count)
		return answerOf(*l, n, err)
	default:
		return answerOf(*l, 0, (*l).advance(r.Advance))
	}
}

// serve starts the service as the parent asked.
func (s *start) serve() (*local, error) {
	o := app.Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	var fake *clock.Fake
	if !s.Now.IsZero() {
		fake = clock.NewFake(s.Now)
		o.Clock = fake
	}
	l, err := newLocal(context.Background(), s.Settings, o)
	if err != nil {
		return nil, err
	}
	l.fake = fake
	return l, nil
}

func answerOf(l *local, n int, err error) answer {
	a := answer{Count: n}
	if l != nil {
		a.Addresses = l.addresses()
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}
