package main

import (
	"context"
	"fmt"
	"time"
)

// idleFor is how long an unused service runs before its memory is read.
const idleFor = 10 * time.Second

func startPart(ctx context.Context, b *bench) error {
	starts := 10
	if b.quick {
		starts = 3
	}
	var healthy, ready series
	var memory int64
	for i := range starts {
		b.report.note("start: %d of %d", i+1, starts)
		g, first, second, err := b.timedStart(ctx)
		if err != nil {
			return err
		}
		healthy, ready = append(healthy, first.Seconds()*1000), append(ready, second.Seconds()*1000)
		if i == starts-1 {
			memory, err = g.idle(ctx)
		}
		g.stop()
		if err != nil {
			return err
		}
	}
	b.report.start(healthy, ready, memory)
	return nil
}

// timedStart starts the service on a new data folder and times its first good answers, counted from before exec.
func (b *bench) timedStart(ctx context.Context) (g *gonebox, healthy, ready time.Duration, err error) {
	begun := time.Now()
	if g, err = b.execGonebox(ctx, b.dataDir(), nil); err != nil {
		return nil, 0, 0, err
	}
	for _, probe := range []struct {
		path string
		took *time.Duration
	}{{"/healthz", &healthy}, {"/readyz", &ready}} {
		for !g.answers(ctx, probe.path) {
			if err := g.alive(); err != nil {
				return nil, 0, 0, fmt.Errorf("%w:\n%s", err, g.logged())
			}
			if time.Since(begun) > time.Minute {
				g.stop()
				return nil, 0, 0, fmt.Errorf("no good %s within a minute:\n%s", probe.path, g.logged())
			}
			time.Sleep(500 * time.Microsecond)
		}
		*probe.took = time.Since(begun)
	}
	return g, healthy, ready, nil
}

// idle is the resident memory of a service that has had nothing to do for a while.
func (g *gonebox) idle(ctx context.Context) (int64, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(idleFor):
		return g.memory()
	}
}

func (r *report) start(healthy, ready series, memory int64) {
	r.say("\nSTART: %d starts, each on a new data folder; milliseconds from exec", len(ready))
	r.table([][]string{
		{"first good answer", ""},
		{"/healthz", healthy.spread("%.0f")},
		{"/readyz", ready.spread("%.0f")},
	})
	r.target("start to /readyz", ready.median(), 150, true, " ms")
	r.target(fmt.Sprintf("resident memory, idle for %s", idleFor), mebibytes(memory), 40, true, " MiB")
}
