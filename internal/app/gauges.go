package app

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/outbound"
)

const (
	// gaugesEvery is how often the gauges are read at most, however often the metrics are scraped: counting reads many
	// rows.
	gaugesEvery = 15 * time.Second
	gaugesWait  = 3 * time.Second // for the database, when the metrics are scraped; Prometheus gives up after 10 s
)

// gauges are the metrics that are read from the database when they are scraped. While the database does not respond, they
// are missing, which monitoring can distinguish from zero. The mutex guards readAt and values, and makes concurrent scrapes read
// once.
type gauges struct {
	app                    *App
	mailboxes, jobs, bytes *prometheus.Desc
	waiting, oldest        *prometheus.Desc // of mail for the relay

	mu     sync.Mutex
	readAt time.Time // by the system's clock
	values []prometheus.Metric
}

// countState registers the metrics of the state of the service. It is called once, if metrics are served.
func (a *App) countState() {
	r := a.metrics.registry
	r.MustRegister(&gauges{
		app:       a,
		mailboxes: prometheus.NewDesc("gonebox_mailboxes", "Mailboxes that have not ended, by source, of all processes.", []string{"source"}, nil),
		jobs:      prometheus.NewDesc("gonebox_jobs", "Jobs in the queue, by state, of all processes. Those in the state dead have been given up.", []string{"state"}, nil),
		bytes:     prometheus.NewDesc("gonebox_store_bytes", "Octets on disk, by kind. On PostgreSQL the database contains the raw messages.", []string{"kind"}, nil),
		waiting:   prometheus.NewDesc("gonebox_relay_waiting", "Mails that wait for the relay, of all processes.", nil, nil),
		oldest:    prometheus.NewDesc("gonebox_relay_oldest_seconds", "How long the oldest mail has waited for the relay; 0 if none waits.", nil, nil),
	})
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gonebox_waits", Help: "Calls that wait for mail in this process.",
	}, func() float64 { return float64(a.wake.Waiting()) }))
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gonebox_build_info", Help: "1, with the version of the program.", ConstLabels: prometheus.Labels{"version": Version},
	})
	build.Set(1)
	r.MustRegister(build)
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(to chan<- *prometheus.Desc) {
	to <- g.mailboxes
	to <- g.jobs
	to <- g.bytes
	to <- g.waiting
	to <- g.oldest
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := clock.System().Now(); g.readAt.IsZero() || now.Sub(g.readAt) >= gaugesEvery {
		g.values, g.readAt = g.read(), now
	}
	for _, v := range g.values {
		to <- v
	}
}

// read reads the values that can be read, within gaugesWait. It is called under the mutex.
func (g *gauges) read() (values []prometheus.Metric) {
	ctx, cancel := clock.WithTimeout(context.Background(), g.app.clock, gaugesWait)
	defer cancel()
	add := func(d *prometheus.Desc, n int64, label ...string) {
		values = append(values, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), label...))
	}
	if counts, err := g.app.mailboxes.CountBySource(ctx); err == nil {
		for _, s := range []mailbox.Source{mailbox.Guest, mailbox.Session, mailbox.Account, mailbox.Key, mailbox.CatchAll, mailbox.Sink, mailbox.Staff, mailbox.Project} {
			add(g.mailboxes, counts[s], string(s))
		}
	}
	if counts, err := job.Count(ctx, g.app.db); err == nil {
		for _, s := range job.States() {
			add(g.jobs, counts[s], s)
		}
	}
	if n, err := g.app.db.Size(ctx); err == nil {
		add(g.bytes, n, "database")
	}
	if !g.app.sharesDatabase() {
		add(g.bytes, folderSize(filepath.Join(g.app.cfg.DataDir, rawFolder)), "raw")
	}
	if g.app.outbound != nil {
		if n, oldest, err := outbound.Waiting(ctx, g.app.db); err == nil {
			age := time.Duration(0)
			if n > 0 {
				age = max(0, g.app.clock.Now().Sub(oldest))
			}
			add(g.waiting, n)
			add(g.oldest, int64(age/time.Second))
		}
	}
	return values
}

// folderSize returns the size of the files in a folder together, in octets. Files that are removed meanwhile do not count.
func folderSize(folder string) (n int64) {
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode()&fs.ModeType == 0 {
			n += info.Size()
		}
	}
	return n
}
