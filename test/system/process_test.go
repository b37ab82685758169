package system_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// process is the running program.
type process struct {
	cmd    *exec.Cmd
	out    apptest.Buffer // stdout
	err    apptest.Buffer // stderr
	exited chan struct{}
}

// launch starts the program with arguments, below a wrapping command if there is one.
func launch(t *testing.T, wrap []string, args ...string) *process {
	t.Helper()
	return launchLine(t, slices.Concat(wrap, []string{program(t)}, args))
}

// launchLine starts a command line.
func launchLine(t *testing.T, line []string) *process {
	t.Helper()
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
		t.Fatalf("the sources in cmd/gonebox: %v, want some", err)
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
