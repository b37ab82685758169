package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// profilePart writes, for each size of mail, a CPU profile and the allocations before and after, then the memory of
// open long-polls, and says how to read them.
func profilePart(ctx context.Context, b *bench) error {
	length := 25 * time.Second
	if b.quick {
		length = 5 * time.Second
	}
	if err := os.MkdirAll(b.profile, 0o755); err != nil {
		return err
	}
	g, err := b.startGonebox(ctx, b.dataDir())
	if err != nil {
		return err
	}
	defer g.stop()
	boxes, err := g.newBoxes(ctx, 0, boxCount)
	if err != nil {
		return err
	}
	for _, m := range mailCases() {
		if !m.reuse {
			continue
		}
		if _, err := (load{addr: g.smtp, boxes: boxes, reuse: true, length: length / 5}).run(ctx, m.crowd); err != nil {
			return err
		}
		if err := b.profileOne(ctx, g, m, boxes, length); err != nil {
			return err
		}
	}
	return b.profilePolls(ctx, g)
}

// profilePolls writes what the service holds in memory while many long-polls are open.
func (b *bench) profilePolls(ctx context.Context, g *gonebox) error {
	n := min(crowdPolls, fileLimit()-reserve)
	boxes, err := g.newBoxes(ctx, boxCount, n)
	if err != nil {
		return err
	}
	crowd, err := b.openCrowd(ctx, g, boxes)
	if err != nil {
		return err
	}
	defer crowd.close()
	file := filepath.Join(b.profile, "polls-heap.pb.gz")
	if err := g.fetch(ctx, "/debug/pprof/heap?gc=1", file); err != nil {
		return err
	}
	b.report.say("%d long-polls: %.1f MiB resident before, %.1f MiB with them", n, mebibytes(crowd.before), mebibytes(crowd.after))
	b.report.say("  go tool pprof -top -sample_index=inuse_space %s", file)
	text := filepath.Join(b.profile, "polls-memstats.txt")
	if err := g.fetch(ctx, "/debug/pprof/heap?debug=1", text); err != nil {
		return err
	}
	b.report.say("  stacks and the rest: the end of %s", text)
	return nil
}

func (b *bench) profileOne(ctx context.Context, g *gonebox, m *mailCase, boxes []mailbox, length time.Duration) error {
	file := func(what string) string {
		return filepath.Join(b.profile, fmt.Sprintf("%d-%s.pb.gz", m.kind.size, what))
	}
	if err := g.fetch(ctx, "/debug/pprof/allocs", file("allocs-before")); err != nil {
		return err
	}
	gauge, err := startGauge(g.process)
	if err != nil {
		return err
	}
	profiled := make(chan error, 1)
	go func() {
		profiled <- g.fetch(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%.0f", length.Seconds()), file("cpu"))
	}()
	o, err := load{addr: g.smtp, boxes: boxes, reuse: true, length: length}.run(ctx, m.crowd)
	if err != nil {
		return err
	}
	used, err := gauge.read()
	if err != nil {
		return err
	}
	if err := <-profiled; err != nil {
		return err
	}
	if err := g.fetch(ctx, "/debug/pprof/allocs", file("allocs-after")); err != nil {
		return err
	}
	b.report.say("%s: %d mails, %.0f a second, %.3f CPU seconds per 1,000", m.name(), len(o.taken), o.rate(), used.server.Seconds()*1000/float64(len(o.taken)))
	b.report.say("  go tool pprof -top %s", file("cpu"))
	b.report.say("  go tool pprof -top -sample_index=alloc_space -base %s %s", file("allocs-before"), file("allocs-after"))
	return nil
}

// fetch saves a page of the service's operator listener.
func (g *gonebox) fetch(ctx context.Context, path, file string) error {
	c, err := dial(ctx, g.admin)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	status, err := c.do(request("GET", path, "", ""))
	if err != nil || status != 200 {
		return fmt.Errorf("GET %s: status %d: %w", path, status, err)
	}
	return os.WriteFile(file, c.body, 0o644)
}
