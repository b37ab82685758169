package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// idleFor is how long an unused service runs before its memory is read.
const idleFor = 10 * time.Second

// begun is one start of a server on a new data folder, in milliseconds from exec.
type begun struct {
	ready    float64 // to the first good answer to /readyz
	greeting float64 // to the first 220
	cpu      float64 // processor time until both
}

// starts are the starts of one contestant, and the memory of those that were left alone, in MiB.
type starts struct {
	name  string
	start func(context.Context) (*peer, error)

	ready, greeting, cpu            series
	resident, anonymous             series
	versions, readies, sends, boxes commandTimes
}

// commandTimes are the times of a command that runs and ends, in milliseconds.
type commandTimes struct{ took, cpu series }

func startPart(ctx context.Context, b *bench) error {
	rounds, idle, runs := 20, 3, 40
	if b.quick {
		rounds, idle, runs = 5, 1, 10
	}
	ours := func(binary string) func(context.Context) (*peer, error) {
		return func(ctx context.Context) (*peer, error) { return b.startDev(ctx, binary) }
	}
	all := []*starts{{name: "Gonebox", start: ours(b.binary)}}
	if b.before != "" {
		all = append(all, &starts{name: "before", start: ours(b.before)})
	}
	if _, err := installed(ctx, mailpitModule); err != nil {
		b.report.say("LEFT OUT: %s: %v", mailpit, err)
	} else {
		all = append(all, &starts{name: mailpit, start: b.startMailpit})
	}
	for i := range rounds {
		b.report.note("start: %d of %d", i+1, rounds)
		for _, s := range all {
			if err := s.once(ctx, i < idle); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	if err := b.timeCommands(ctx, all, runs); err != nil {
		return err
	}
	b.report.start(all)
	return nil
}

// startDev starts a gonebox as a developer does, in an empty folder, with its Mailpit API.
func (b *bench) startDev(ctx context.Context, binary string) (*peer, error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "serve", "--dev", "--data-dir", b.dataDir(), "--http-addr", ports[0], "--smtp-addr", ports[1],
		"--set", "compat.mailpit.addr="+ports[2])
	p := &peer{web: ports[0], smtp: ports[1]}
	p.process, err = start(ctx, cmd)
	return p, err
}

// once starts the contestant, and stops it when it serves; with idle, only after its memory was read.
func (s *starts) once(ctx context.Context, idle bool) error {
	at := time.Now()
	p, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer p.stop()
	one, err := p.timeStart(ctx, at)
	if err != nil {
		return err
	}
	s.ready, s.greeting, s.cpu = append(s.ready, one.ready), append(s.greeting, one.greeting), append(s.cpu, one.cpu)
	if !idle {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(idleFor):
	}
	for field, figures := range map[string]*series{"VmRSS:": &s.resident, "RssAnon:": &s.anonymous} {
		octets, err := p.status(field)
		if err != nil {
			return err
		}
		*figures = append(*figures, mebibytes(octets))
	}
	return nil
}

// timeStart waits for the first 220 and the first good answer to /readyz at the same time.
func (p *peer) timeStart(ctx context.Context, at time.Time) (one begun, err error) {
	greeted := make(chan float64, 1)
	go func() {
		greeted <- p.await(ctx, func() bool { return greets(ctx, p.smtp) }, at)
	}()
	one.ready = p.await(ctx, func() bool { return answers(ctx, p.web, "/readyz") }, at)
	one.greeting = <-greeted
	cpu, err := p.exactCPU()
	one.cpu = cpu.Seconds() * 1000
	if dead := p.alive(); dead != nil {
		return one, dead
	}
	return one, err
}

// await asks until the answer is yes or the process has ended, and returns how many milliseconds that took.
func (p *peer) await(ctx context.Context, good func() bool, at time.Time) float64 {
	for !good() && p.alive() == nil && ctx.Err() == nil {
		time.Sleep(500 * time.Microsecond)
	}
	return time.Since(at).Seconds() * 1000
}

// greets reports whether a server at addr sends a 220.
func greets(ctx context.Context, addr string) bool {
	c, err := dial(ctx, addr)
	if err != nil {
		return false
	}
	defer c.conn.Close()
	line, err := c.in.ReadString('\n')
	return err == nil && strings.HasPrefix(line, "220")
}

// exactCPU is the processor time of the threads of the process, where cpu has it in ticks of 10 ms.
func (p *process) exactCPU() (sum time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	for _, file := range files {
		text, _ := os.ReadFile(file) // fails for a thread that has just ended
		if used, _, ok := strings.Cut(string(text), " "); ok {
			ns, _ := strconv.ParseInt(used, 10, 64) // the kernel writes numbers
			sum += time.Duration(ns)
		}
	}
	return sum, err
}
