package apptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// child is a service in a child process, until it is stopped.
type child struct {
	at      addresses
	process atomic.Pointer[process] // nil: stopped; the process may serve another one by then
	end     func() error
}

// newChild starts a service in a child process. Its log goes to log; if that is io.Discard, an idle process is used where there is one.
func newChild(t testing.TB, s *start, log io.Writer) (*child, error) {
	p, err := idle.take(log)
	if err != nil {
		return nil, err
	}
	c := new(child)
	c.process.Store(p)
	c.end = sync.OnceValue(func() error {
		c.process.Store(nil)
		_, err := p.ask(request{Stop: true})
		if err != nil || log != io.Discard {
			return errors.Join(err, p.close()) // and the whole of its log has been written
		}
		idle.put(p)
		return nil
	})
	t.Cleanup(func() { _ = c.end() })
	a, err := p.ask(request{Start: s})
	c.at = a.Addresses
	return c, err
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

func (c *child) ask(r request) (answer, error) {
	p := c.process.Load()
	if p == nil {
		return answer{}, errors.New("the service has been stopped")
	}
	return p.ask(r)
}

// idle holds the child processes that serve nothing. Starting one takes as long as many a test.
var idle processes

// processes are child processes. It is safe for concurrent use.
type processes struct {
	mu  sync.Mutex
	all []*process
}

// take returns an idle process, or a new one whose log goes to log.
func (i *processes) take(log io.Writer) (*process, error) {
	if log != io.Discard {
		return newProcess(log)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	last := len(i.all) - 1
	if last < 0 {
		return newProcess(log)
	}
	p := i.all[last]
	i.all = i.all[:last]
	return p, nil
}

// put returns a process whose service has stopped.
func (i *processes) put(p *process) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = append(i.all, p)
}

// takeAll returns the idle processes.
func (i *processes) takeAll() []*process {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := i.all
	i.all = nil
	return all
}

// EndChildren ends the child processes that serve nothing any more, and the goroutines that read from them, for a TestMain that looks for
// goroutines that are left behind. They end with the test program in any case.
func EndChildren() error {
	var faults []error
	for _, p := range idle.takeAll() {
		faults = append(faults, p.close())
	}
	return errors.Join(faults...)
}

// process is a child process. Its standard input has the requests and its standard output the answers.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
	log *tail
	mu  sync.Mutex // held from a request to its response
}

// newProcess starts a process whose log goes to log.
func newProcess(log io.Writer) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(program), log: &tail{to: log}} // not CommandContext: it ends when its input does
	p.cmd.Env = append(os.Environ(), childVariable+"=1")
	p.cmd.Stderr = p.log
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = json.NewDecoder(out)
	return p, p.cmd.Start()
}

// ask sends a request and returns the response, one at a time. If the process has ended, the error has the end of its log.
func (p *process) ask(r request) (a answer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := json.NewEncoder(p.in).Encode(r); err != nil {
		return a, fmt.Errorf("write to process %d: %w", p.cmd.Process.Pid, err)
	}
	if err := p.out.Decode(&a); err != nil {
		return a, fmt.Errorf("read from process %d: %w; its last output:\n%s", p.cmd.Process.Pid, err, p.log.last())
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// close ends the process.
func (p *process) close() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

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

// last returns the end of the log.
func (l *tail) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}
