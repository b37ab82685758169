package system_test

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// call is a system call of the service as strace saw it. The order of two calls is certain only if one ends before the
// other begins.
type call struct {
	begun, ended int // positions in the log; ended is 0 where the end was not seen
	name         string
	file         string // what its first argument stands for
	data         string // what was written or read
	ok           bool
}

// tracing are strace's options: follow all threads, name files and connections, and write all data in hex.
func tracing(log string) []string {
	return []string{"-f", "-yy", "-xx", "-s", "200000", "-e", "trace=fsync,fdatasync,read,write,writev,pwrite64,sendto", "-o", log}
}

// calls parses a log of strace.
func calls(t *testing.T, log string) []call {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var all []call
	open := make(map[string]int) // by thread, the call that has begun
	for at, line := range strings.Split(string(text), "\n") {
		thread, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimLeft(rest, " ")
		if resumed, ok := strings.CutPrefix(rest, "<... "); ok {
			if i, known := open[thread]; known {
				all[i].end(at+1, resumed)
				delete(open, thread)
			}
			continue
		}
		c, ok := parseCall(at+1, rest)
		if !ok {
			continue
		}
		if strings.HasSuffix(rest, "<unfinished ...>") {
			open[thread] = len(all)
		} else {
			c.end(at+1, rest)
		}
		all = append(all, c)
	}
	return all
}

// parseCall parses a call such as "write(17<TCP:[…]>, "\x32…", 5) = 5", complete or up to where strace interrupted the
// line.
func parseCall(at int, line string) (call, bool) {
	name, args, ok := strings.Cut(line, "(")
	if !ok || strings.ContainsAny(name, " +-") {
		return call{}, false
	}
	c := call{begun: at, name: name, data: octetsOf(args)}
	if _, after, found := strings.Cut(args, "<"); found {
		c.file, _, _ = strings.Cut(strings.ReplaceAll(after, "->", "→"), ">")
		c.file = unhex(c.file)
	}
	return c, true
}

// end records the return of a call, whose read data is known only now.
func (c *call) end(at int, line string) {
	c.ended = at
	if c.data == "" {
		c.data = octetsOf(line)
	}
	_, result, _ := strings.Cut(line[max(strings.LastIndex(line, ")"), 0):], "= ")
	c.ok = result != "" && result[0] != '-' && result[0] != '?'
}

func octetsOf(args string) string {
	_, quoted, _ := strings.Cut(args, `"`)
	quoted, _, _ = strings.Cut(quoted, `"`)
	return unhex(quoted)
}

var hexOctet = regexp.MustCompile(`\\x[0-9a-f]{2}`)

func unhex(text string) string {
	return hexOctet.ReplaceAllStringFunc(text, func(x string) string {
		b, _ := hex.DecodeString(x[2:])
		return string(b)
	})
}

// attach makes system calls of a running service fail until the returned function is called. It skips the test where
// tracing is not permitted.
func attach(t *testing.T, s *service, args ...string) (detach func()) {
	t.Helper()
	strace := need(t, "strace")
	log := filepath.Join(t.TempDir(), "faults")
	var said apptest.Buffer
	cmd := exec.Command(strace, append([]string{"-f", "-o", log, "-p", strconv.Itoa(s.proc.cmd.Process.Pid)}, args...)...)
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { defer close(exited); _ = cmd.Wait() }()
	ended := func() bool {
		select {
		case <-exited:
			return true
		default:
			return false
		}
	}
	await(t, "strace", func() bool { return ended() || strings.Contains(said.String(), "attached") })
	if ended() {
		if strings.Contains(said.String(), "not permitted") {
			t.Skipf("strace may not attach here: %s", said.String())
		}
		t.Fatalf("strace %v ended: %s, want it attached", args, said.String())
	}
	detach = func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // ended already, when called again
		<-exited
	}
	t.Cleanup(detach)
	return detach
}
