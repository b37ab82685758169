package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// profilePart writes, for each size of mail, a CPU profile and the allocations before and after, then the memory of
// open long-polls, and says how to read them. With --only postgres it does so on PostgreSQL.
func profilePart(ctx context.Context, b *bench) (err error) {
	if err := os.MkdirAll(b.profile, 0o755); err != nil {
		return err
	}
	how := onSQLite
	var server *dbtest.Server
	if b.only["postgres"] {
		how = onPostgres
		if server, err = startServer(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Close()) }()
	}
	k, err := b.openKeeper(ctx, server, how)
	if err != nil {
		return err
	}
	defer k.gonebox.stop()
	for _, m := range mailCases() {
		if !m.reuse {
			continue
		}
		if _, err := (load{addr: k.smtp, boxes: k.boxes, reuse: true, length: b.profileLength() / 5}).run(ctx, m.crowd); err != nil {
			return err
		}
		if err := b.profileOne(ctx, k, m); err != nil {
			return err
		}
	}
	return b.profilePolls(ctx, k.gonebox)
}

func (b *bench) profileLength() time.Duration {
	if b.quick {
		return 5 * time.Second
	}
	return 25 * time.Second
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

func (b *bench) profileOne(ctx context.Context, k *keeper, m *mailCase) error {
	file := func(what string) string {
		return filepath.Join(b.profile, fmt.Sprintf("%d-%s.pb.gz", m.kind.size, what))
	}
	length := b.profileLength()
	if err := k.fetch(ctx, "/debug/pprof/allocs", file("allocs-before")); err != nil {
		return err
	}
	profiled := make(chan error, 1)
	go func() {
		profiled <- k.fetch(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%.0f", length.Seconds()), file("cpu"))
	}()
	o, used, err := k.spend(ctx, m, length)
	if err != nil {
		return err
	}
	if err := <-profiled; err != nil {
		return err
	}
	if err := k.fetch(ctx, "/debug/pprof/allocs", file("allocs-after")); err != nil {
		return err
	}
	per1000 := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(len(o.taken)) }
	b.report.say("%s: %d mails, %.0f a second; CPU seconds per 1,000: service %.3f, database server %.3f", m.name(), len(o.taken), o.rate(),
		per1000(used.server), per1000(used.database))
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
