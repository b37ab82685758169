package budget_test

import (
	"testing"
	"testing/fstest"

	"github.com/gonebox/gonebox/internal/budget"
)

func TestSystemMemoryIsTheLeastLimit(t *testing.T) {
	const meminfo = "MemTotal:        2097152 kB\nMemFree:         1048576 kB\n"
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"nothing is known": {fstest.MapFS{}, 0},
		"a machine without cgroups": {fstest.MapFS{
			"proc/meminfo": file(meminfo),
		}, 2048 * mib},
		"a cgroup v2 below another": {fstest.MapFS{
			"proc/meminfo":                          file(meminfo),
			"proc/self/cgroup":                      file("0::/system.slice/gonebox.service\n"),
			"sys/fs/cgroup/system.slice/memory.max": file("536870912\n"),
			"sys/fs/cgroup/system.slice/gonebox.service/memory.max": file("max\n"),
		}, 512 * mib},
		"a cgroup v2 as a container sees it": {fstest.MapFS{
			"proc/meminfo":             file(meminfo),
			"proc/self/cgroup":         file("0::/\n"),
			"sys/fs/cgroup/memory.max": file("268435456\n"),
		}, 256 * mib},
		"a cgroup v1": {fstest.MapFS{
			"proc/meminfo":     file(meminfo),
			"proc/self/cgroup": file("4:memory:/box\n1:cpu:/\n0::/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     file("9223372036854771712\n"),
			"sys/fs/cgroup/memory/box/memory.limit_in_bytes": file("1073741824\n"),
		}, 1024 * mib},
		"a cgroup v1 with the path of the host": {fstest.MapFS{
			"proc/meminfo":     file(meminfo),
			"proc/self/cgroup": file("4:memory:/docker/0123456789abcdef\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("1073741824\n"),
		}, 1024 * mib},
		"a limit above the machine": {fstest.MapFS{
			"proc/meminfo":             file(meminfo),
			"proc/self/cgroup":         file("0::/\n"),
			"sys/fs/cgroup/memory.max": file("9223372036854771712\n"),
		}, 2048 * mib},
	} {
		if got := budget.SystemMemory(c.files); got != c.want {
			t.Errorf("%s: %d octets, want %d", name, got, c.want)
		}
	}
}

func TestTheDefaultIsAPartOfTheMemory(t *testing.T) {
	for memory, want := range map[int64]int64{0: 256 * mib, 300 * mib: 256 * mib, 1000 * mib: 600 * mib} {
		if got := budget.DefaultTotal(memory); got != want {
			t.Errorf("of %d octets: %d, want %d", memory, got, want)
		}
	}
}

func TestTheRuntimeKeepsBelowTheWhole(t *testing.T) {
	const gib = 1000 * mib
	for _, c := range []struct{ total, memory, want int64 }{
		{600 * mib, gib, 900 * mib},
		{600 * mib, 0, 900 * mib},
		{600 * mib, 700 * mib, 630 * mib}, // a budget that was set too high
		{60 * mib, gib, 90 * mib},
	} {
		if got := budget.MemoryLimit(c.total, c.memory); got > c.want || got < c.want-1000 {
			t.Errorf("MemoryLimit(%d, %d) = %d, want %d", c.total, c.memory, got, c.want)
		}
	}
}
