package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of the times in /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// process is a server under test.
type process struct {
	cmd  *exec.Cmd
	done chan error
}

// start runs a program that ends with ctx, or with this process however it ends.
func start(ctx context.Context, cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &process{cmd: cmd, done: make(chan error, 1)}
	go func() { p.done <- cmd.Wait() }()
	context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	return p, nil
}

// startSelf runs this program as one of the servers that the service is compared with, and returns where it listens.
func startSelf(ctx context.Context, command string) (*process, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	cmd := exec.Command(self, command)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // the receiver stops at its end
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	p, err := start(ctx, cmd)
	if err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.stop()
		return nil, "", fmt.Errorf("%s did not print its address: %w", command, err)
	}
	return p, strings.TrimSpace(line), nil
}

// stop ends the process: politely, then not.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.done:
		p.done <- err
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		err := <-p.done
		p.done <- err
	}
}

// alive is nil while the process runs.
func (p *process) alive() error {
	select {
	case err := <-p.done:
		p.done <- err
		return fmt.Errorf("%s ended by itself: %w", p.cmd.Path, errors.Join(err, io.ErrUnexpectedEOF))
	default:
		return nil
	}
}

// cpu is the CPU time that the process and its descendants have used, with those that have ended.
func (p *process) cpu() (sum time.Duration, err error) {
	for _, one := range p.family() {
		const user, endedSystem = 11, 14 // counted from the field behind the name
		for _, field := range one.stat[user : endedSystem+1] {
			sum += ticks(field)
		}
	}
	if sum == 0 {
		err = p.alive()
	}
	return sum, err
}

// relative is the process itself or a descendant of it: its identifier, and the fields of /proc/[pid]/stat after the name (proc(5)).
type relative struct {
	pid  int
	stat []string
}

// family is the process and its descendants, which start after it.
func (p *process) family() []relative {
	all := make(map[int][]relative) // by parent
	var family []relative
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // fails for a bad pattern only
	for _, file := range files {
		text, err := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(text), ") ") // the name before it may hold anything
		fields := strings.Fields(rest)
		if err != nil || len(fields) < 20 {
			continue // it has just ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent, _ := strconv.Atoi(fields[1])
		one := relative{pid, fields}
		if pid == p.cmd.Process.Pid {
			family = append(family, one)
		}
		all[parent] = append(all[parent], one)
	}
	for i := 0; i < len(family); i++ {
		family = append(family, all[family[i].pid]...)
	}
	return family
}

// peak is the most memory that the process has had resident; for one with descendants, what they have together at this moment, where
// shared pages count once.
func (p *process) peak() (sum int64, err error) {
	family := p.family()
	if len(family) == 1 {
		return p.status("VmHWM:")
	}
	for _, one := range family {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", one.pid)) // it may just have ended
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "Pss:"); ok {
				kib, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64) // the kernel writes numbers
				sum += kib << 10
			}
		}
	}
	return sum, nil
}

func ticks(field string) time.Duration {
	n, _ := strconv.ParseInt(field, 10, 64) // the kernel writes numbers
	return time.Duration(n) * tick
}

// memory is the resident memory of the process in octets.
func (p *process) memory() (int64, error) { return p.status("VmRSS:") }

// status is a field of /proc/pid/status that is in KiB, in octets.
func (p *process) status(field string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field); ok {
			kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no %s", p.cmd.Process.Pid, field)
}

// ownCPU is the CPU time of this process: the load generator's.
func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for no valid argument
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// machineCPU is the CPU time that all processes of the machine together have used.
func machineCPU() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var sum time.Duration
	for i, f := range strings.Fields(line) {
		const idle, ioWait = 4, 5
		if i > 0 && i != idle && i != ioWait && i <= 8 { // guest times are in user's already
			sum += ticks(f)
		}
	}
	return sum
}
