package dbtest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the times in /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// CPU returns the CPU time that all processes of the server have used, including those that have ended.
func (s *Server) CPU() (time.Duration, error) {
	first := running(s.dir)
	sum, err := cpuOf(first, true)
	if err != nil {
		return 0, err
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", first))
	if err != nil {
		return 0, err
	}
	for field := range strings.FieldsSeq(string(children)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		used, err := cpuOf(child, false)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // it may have ended meanwhile
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// cpuOf returns the CPU time of a process, and with ended also that of its children that have ended.
func cpuOf(pid int, ended bool) (sum time.Duration, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name before it may hold anything
	fields := strings.Fields(rest)
	const user, end = 11, 15 // user, system and both of ended children, counted from the field behind the name
	if len(fields) < end {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, rest)
	}
	fields = fields[user:end]
	if !ended {
		fields = fields[:2]
	}
	for _, field := range fields {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}
