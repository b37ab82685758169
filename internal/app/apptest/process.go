package apptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
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

// addresses are where a process listens: URLs, and a host:port for SMTP. Mailpit and MailTM are "" where they are off.
type addresses struct{ Web, SMTP, Admin, Mailpit, MailTM string }

// what names a count that a process reports of itself.
type what string

const (
	timers   what = "timers"   // pending timers of its clock
	sleepers what = "sleepers" // waiting long-polls
	atWork   what = "at work"  // goroutines of schedules and queues that are not asleep
)

// local is the service in this process. end shuts it down; it may be called more than once.
type local struct {
	app  *app.App
	fake *clock.Fake // nil: the system clock
	end  func() error
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
	return &local{app: a, end: sync.OnceValue(func() error {
		cancel()
		return <-ended
	})}, nil
}

func (l *local) addresses() addresses {
	a := addresses{Web: "http://" + l.app.HTTPAddr().String(), Admin: "http://" + l.app.MetricsAddr().String()}
	if smtp := l.app.SMTPAddr(); smtp != nil {
		a.SMTP = smtp.String()
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

// count counts goroutines by their stacks: the service has no other way to report that it is idle. The names of
// functions in it must follow the code.
func (l *local) count(w what) (int, error) {
	switch w {
	case timers:
		return l.fake.Waiting(), nil
	case sleepers:
		return CountSleepers(stacks()), nil
	case atWork:
		n := 0
		for stack := range strings.SplitSeq(stacks(), "\n\n") {
			if works(stack) {
				n++
			}
		}
		return n, nil
	}
	return 0, fmt.Errorf("%s cannot be counted", w)
}

// stacks returns the stacks of all goroutines.
func stacks() string {
	for size := 128 << 10; ; size *= 2 {
		b := make([]byte, size)
		if n := runtime.Stack(b, true); n < size {
			return string(b[:n])
		}
	}
}

// CountSleepers counts, in a dump of all stacks, the calls that wait for a change of a key. A call that still reads is not
// counted: what happens to the database then is its error, and does not wake it.
func CountSleepers(stacks string) (n int) {
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		state, calls, _ := strings.Cut(stack, "\n")
		innermost, _, _ := strings.Cut(calls, "\n")
		if strings.Contains(state, "[select") && strings.Contains(innermost, "internal/wake.until[") {
			n++
		}
	}
	return n
}

// works reports whether a stack belongs to a goroutine of a job.Schedule or a job.Queue that is not asleep: it may set
// a timer that is computed from the current time. One that only waits for the end of jobs sets none.
func works(stack string) bool {
	state, _, _ := strings.Cut(stack, "\n")
	switch {
	case strings.Contains(stack, "internal/job.(*Schedule).runTask("):
		return !strings.Contains(state, "[select") || !strings.Contains(stack, "internal/job.(*Schedule).sleep(")
	case strings.Contains(stack, "internal/job.(*Queue).Run("):
		asleep := strings.Contains(state, "[select") && strings.Contains(stack, "internal/job.(*run).sleep(")
		return !asleep && !strings.Contains(stack, "sync.(*WaitGroup).Wait(")
	}
	return false
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
// same test program, started again: in it Child serves until the parent ends it, and does not return.
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

// serveParent executes requests of the parent until it stops the child or its pipe is closed, as when the parent dies.
func serveParent(from io.Reader, to io.Writer) error {
	var l *local
	in, out := json.NewDecoder(from), json.NewEncoder(to)
	for {
		var r request
		err := in.Decode(&r)
		if err == io.EOF || r.Stop { // the parent has stopped it, or has ended
			if l != nil {
				err = l.stop()
			}
			return errors.Join(out.Encode(answerOf(nil, 0, err)), err)
		}
		if err != nil {
			return err
		}
		if err := out.Encode(serveRequest(&l, r)); err != nil {
			return err
		}
	}
}

// serveRequest executes a request other than Stop. The first one must be Start.
func serveRequest(l **local, r request) answer {
	if r.Start != nil {
		made, err := r.Start.serve()
		*l = made
		return answerOf(made, 0, err)
	}
	if r.Count != "" {
		n, err := (*l).count(r.Count)
		return answerOf(*l, n, err)
	}
	return answerOf(*l, 0, (*l).advance(r.Advance))
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

// child is a service in a child process. The child's standard input has the requests and its standard output the
// answers.
type child struct {
	at  addresses
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
	log *tail
	mu  sync.Mutex // held from a request to its response
	end func() error
}

// newChild starts a process whose log goes to log.
func newChild(t testing.TB, s *start, log io.Writer) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(program), log: &tail{to: log}} // not CommandContext: it stops on request, or when its input ends
	c.cmd.Env = append(os.Environ(), childVariable+"=1")
	c.cmd.Stderr = c.log
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = json.NewDecoder(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.end = sync.OnceValue(func() error {
		_, err := c.ask(request{Stop: true})
		return errors.Join(err, c.in.Close(), c.cmd.Wait())
	})
	t.Cleanup(func() { _ = c.end() })
	a, err := c.ask(request{Start: s})
	c.at = a.Addresses
	return c, err
}

// ask sends a request and returns the response, one at a time. If the child has ended, the error has the end of its log.
func (c *child) ask(r request) (a answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := json.NewEncoder(c.in).Encode(r); err != nil {
		return a, fmt.Errorf("write to process %d: %w", c.cmd.Process.Pid, err)
	}
	if err := c.out.Decode(&a); err != nil {
		return a, fmt.Errorf("read from process %d: %w; its last output:\n%s", c.cmd.Process.Pid, err, c.log.last())
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

func (c *child) addresses() addresses { return c.at }

func (c *child) advance(d time.Duration) error {
	_, err := c.ask(request{Advance: d})
	return err
}

func (c *child) count(w what) (int, error) {
	a, err := c.ask(request{Count: w})
	return a.Count, err
}

func (c *child) stop() error { return c.end() }

// tail is the writer of a child's log: it passes it on and keeps the end for the error when the child ends
// unexpectedly. It is safe for concurrent use.
type tail struct {
	to   io.Writer
	mu   sync.Mutex
	kept []byte
}

// Write passes on what the child logs.
func (l *tail) Write(p []byte) (int, error) {
	const enough = 4 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	l.kept = l.kept[max(0, len(l.kept)-enough):]
	return l.to.Write(p)
}

func (l *tail) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}
