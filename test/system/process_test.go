package system_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// process is the running program.
type process struct {
	cmd    *exec.Cmd
	out    output // stdout
	err    output // stderr
	exited chan struct{}
}

// output collects what a process prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// String returns everything so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// launch starts the program with arguments, below a wrapping command if there is one.
func launch(t *testing.T, wrap []string, args ...string) *process {
	t.Helper()
	line := slices.Concat(wrap, []string{program(t)}, args)
	p := &process{cmd: exec.Command(line[0], line[1:]...), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GONEBOX_") })
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start %v: %v", line, err)
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait() // the exit status is in ProcessState
	}()
	return p
}

// program returns the path of the binary. go test caches a result until a file changes that the test read, so this
// reads the sources that no test imports.
func program(t *testing.T) string {
	t.Helper()
	sources, err := filepath.Glob("../../cmd/gonebox/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources of the program: %v", err)
	}
	for _, source := range sources {
		if _, err := os.Stat(source); err != nil {
			t.Fatal(err)
		}
	}
	return apptest.Program(t)
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

func (p *process) signal(sig os.Signal) { _ = p.cmd.Process.Signal(sig) } // it may have ended by itself

// kill ends the process with SIGKILL, the nearest to a loss of power.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// wait returns the exit status, or -1 if a signal ended the process.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	await(t, "the end of the process", func() bool { return !p.running() })
	return p.cmd.ProcessState.ExitCode()
}

// command runs the program until it ends.
func command(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	p := launch(t, nil, args...)
	defer p.kill()
	code = p.wait(t)
	return code, p.out.String(), p.err.String()
}
