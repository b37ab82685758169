package system_test

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// cgroup is a control group that limits the memory of its processes, on version 1 or 2 of the kernel's interface.
type cgroup struct {
	dir string
	v2  bool
}

// newCgroup makes a group with a limit in octets and removes it after the test. It skips the test where it cannot make
// one: that needs root and a memory controller.
func newCgroup(t *testing.T, limit int64) cgroup {
	t.Helper()
	g, err := ownCgroup()
	if err == nil {
		g.dir = filepath.Join(g.dir, "gonebox-test-"+strconv.Itoa(os.Getpid())+"-"+strings.ToLower(t.Name()[:min(8, len(t.Name()))]))
		err = os.Mkdir(g.dir, 0o700)
	}
	if err != nil {
		t.Skipf("no control group for memory can be made, which takes root and a memory controller: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(g.dir); err != nil {
			t.Errorf("remove the control group: %v", err)
		}
	})
	if err := os.WriteFile(filepath.Join(g.dir, g.file("memory.limit_in_bytes", "memory.max")), strconv.AppendInt(nil, limit, 10), 0o600); err != nil {
		os.Remove(g.dir)
		t.Skipf("a control group does not take a memory limit: %v", err)
	}
	return g
}

// ownCgroup is the memory control group of this process.
func ownCgroup() (cgroup, error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return cgroup{}, err
	}
	unified := ""
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		switch controllers {
		case "memory":
			return existing(filepath.Join("/sys/fs/cgroup/memory", path), "/sys/fs/cgroup/memory")
		case "":
			unified = path
		}
	}
	g, err := existing(filepath.Join("/sys/fs/cgroup", unified), "/sys/fs/cgroup")
	g.v2 = true
	return g, err
}

// existing returns the group in dir, or else in root: in a container the path may be the host's.
func existing(dir, root string) (cgroup, error) {
	for _, d := range []string{dir, root} {
		if _, err := os.Stat(filepath.Join(d, "cgroup.procs")); err == nil {
			return cgroup{dir: d}, nil
		}
	}
	return cgroup{}, errors.Join(fs.ErrNotExist, errors.New(dir))
}

func (g cgroup) file(v1, v2 string) string {
	if g.v2 {
		return v2
	}
	return v1
}

// wrap returns the command that runs a program in the group.
func (g cgroup) wrap() []string {
	return []string{"/bin/sh", "-c", `echo $$ > ` + filepath.Join(g.dir, "cgroup.procs") + ` && exec "$0" "$@"`}
}

// rss is the memory of the processes in the group without the page cache.
func (g cgroup) rss(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, "memory.stat"))
	if err != nil {
		t.Error(err)
		return 0
	}
	field := g.file("rss", "anon")
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), " "); name == field {
			n, _ := strconv.ParseInt(value, 10, 64)
			return n
		}
	}
	return 0
}

// watch samples the resident memory until the test ends, and returns a function for the peak so far.
func (g cgroup) watch(t *testing.T) (peak *atomic.Int64) {
	peak = new(atomic.Int64)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			peak.Store(max(peak.Load(), g.rss(t)))
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
	})
	return peak
}
