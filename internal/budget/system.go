package budget

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// SystemMemory returns the memory in octets that this process can use: the machine's, or less where a control group (cgroup v1 or v2)
// limits it, read below root, which is os.DirFS("/"). It returns 0 if it finds neither.
func SystemMemory(root fs.FS) int64 {
	memory := machineMemory(root)
	if memory == 0 {
		memory = math.MaxInt64
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // absent: there is no limit
	for line := range strings.Lines(string(groups)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		switch {
		case id == "0" && controllers == "":
			memory = min(memory, groupLimit(root, "sys/fs/cgroup", group, "memory.max"))
		case controllers == "memory":
			memory = min(memory, groupLimit(root, "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"))
		}
	}
	if memory == math.MaxInt64 {
		return 0
	}
	return memory
}

// groupLimit returns the least limit of a control group and those above it. In a container the path may be the host's,
// of which the container sees only its own group, as the root.
func groupLimit(root fs.FS, mount, group, file string) int64 {
	limit := int64(math.MaxInt64)
	for group = path.Join("/", group); ; group = path.Dir(group) {
		text, _ := fs.ReadFile(root, path.Join(mount, group, file)) // "max", like an absent file, is no limit
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && n > 0 {
			limit = min(limit, n)
		}
		if group == "/" {
			return limit
		}
	}
}

// machineMemory returns MemTotal of /proc/meminfo, which counts in KiB, in octets; 0 if there is none, as on other
// systems than Linux.
func machineMemory(root fs.FS) int64 {
	f, err := root.Open("proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == "MemTotal:" {
			n, _ := strconv.ParseInt(fields[1], 10, 53)
			return n << 10
		}
	}
	return 0
}

// The default budget is a part of the memory: the rest is for what is not counted, garbage above all.
const (
	percent      = 60
	leastDefault = 256 << 20
)

// DefaultTotal returns the budget in octets of a process that has memory octets; 0 means that they are not known.
func DefaultTotal(memory int64) int64 { return max(memory/100*percent, leastDefault) }

// MemoryLimit is what the Go runtime should keep below (debug.SetMemoryLimit) for a budget of total octets in a process that has memory
// octets, 0 where they are not known: the whole of which total is the part, less what the runtime does not count.
func MemoryLimit(total, memory int64) int64 {
	const counted = 90 // percent
	whole := total / percent * 100
	if memory > 0 {
		whole = min(whole, memory)
	}
	return whole / 100 * counted
}
