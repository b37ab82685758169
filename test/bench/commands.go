package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// timeCommands lets the commands of all contestants take turns, each against the running server of its own.
func (b *bench) timeCommands(ctx context.Context, all []*starts, runs int) error {
	commands := make([][]timed, len(all))
	for i, s := range all {
		p, err := s.start(ctx)
		if err != nil {
			return err
		}
		defer p.stop()
		if err := p.awaitGreeting(ctx); err != nil {
			return err
		}
		commands[i] = b.commandsOf(s, p)
	}
	for i := range runs {
		b.report.note("commands: %d of %d", i+1, runs)
		for _, each := range commands {
			for _, c := range each {
				if err := c.run(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// timed is a command whose times are taken.
type timed struct {
	program string
	args    []string
	env     []string
	times   *commandTimes
}

// commandsOf returns the commands of a contestant, those of Mailpit as far as it has them.
func (b *bench) commandsOf(s *starts, p *peer) []timed {
	program, url := p.cmd.Path, "http://"+p.web
	if s.name == mailpit {
		return []timed{
			{program: program, args: []string{"version", "--no-release-check"}, times: &s.versions},
			{program: program, args: []string{"readyz", "--listen", p.web}, times: &s.readies},
		}
	}
	return []timed{
		{program: program, args: []string{"version"}, times: &s.versions},
		{program: program, args: []string{"ready", "--url", url}, times: &s.readies},
		{program: program, args: []string{"send", "--server", p.smtp, "--to", "someone@example.org"}, times: &s.sends},
		{program: program, args: []string{"inbox", "new", "--url", url}, env: []string{"HOME=" + b.scratch, "XDG_STATE_HOME=" + b.scratch}, times: &s.boxes},
	}
}

// run runs the command once.
func (t *timed) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.program, t.args...)
	cmd.Env = append(cmd.Environ(), t.env...)
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	t.times.took = append(t.times.took, time.Since(begun).Seconds()*1000)
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.times.cpu = append(t.times.cpu, used.Seconds()*1000)
	return nil
}

func (r *report) start(all []*starts) {
	ours := all[0]
	r.say("\nSTART: %d starts of each in an empty folder, in turns; milliseconds from exec. Memory after %s without a client.", len(ours.ready), idleFor)
	rows := [][]string{{""}, {"to /readyz, ms"}, {"to the first 220, ms"}, {"processor time until both, ms"}, {"resident memory, MiB"}, {"of it not of files, MiB"}}
	for _, s := range all {
		rows[0] = append(rows[0], s.name)
		for i, figures := range []series{s.ready, s.greeting, s.cpu, s.resident, s.anonymous} {
			rows[i+1] = append(rows[i+1], figures.spread("%.0f"))
		}
	}
	r.table(rows)
	for _, s := range all[1:] {
		r.say("  of %s's within a round: to /readyz %s, processor time %s", s.name, ours.ready.over(s.ready).spread("%.2f"), ours.cpu.over(s.cpu).spread("%.2f"))
	}
	r.target("start to /readyz", ours.ready.median(), 100, true, " ms")
	r.target("resident memory, idle for "+idleFor.String(), ours.resident.median(), 35, true, " MiB")

	r.say("\nCOMMANDS against a running service, %d runs of each in turns; milliseconds, and those of processor time.", len(ours.versions.took))
	rows = [][]string{{"", "version", "ready", "send", "inbox new"}}
	for _, s := range all {
		took, cpu := []string{s.name}, []string{"processor time"}
		for _, times := range []commandTimes{s.versions, s.readies, s.sends, s.boxes} {
			took, cpu = append(took, times.took.spread("%.1f")), append(cpu, times.cpu.spread("%.1f"))
		}
		rows = append(rows, took, cpu)
	}
	r.table(rows)
	for i, times := range []commandTimes{ours.versions, ours.readies, ours.sends, ours.boxes} {
		r.target("gonebox "+rows[0][i+1], times.took.median(), 20, true, " ms")
	}
}
