package app

import (
	"context"
	"sync"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/ratelimit/ledger"
	"github.com/gonebox/gonebox/internal/wake"
)

// cluster is what ties this process to the others that share its PostgreSQL. On SQLite there are none, and it does nothing.
type cluster struct {
	counts  *db.DB // for the ledger alone: it is asked inside transactions, too
	relay   *wake.Relay
	ledger  *ledger.Ledger
	limiter *ratelimit.Limiter
	gauge   *ratelimit.Gauge
}

// What processes tell each other that they have changed, beside mailboxes: package wake carries it.
const (
	domainTopic = "domain"
	filterTopic = "filter"
	bankTopic   = "bank" // it has told of a transaction
)

// newLimiter counts against the limits, together with other processes where there may be some.
func (a *App) newLimiter() *ratelimit.Limiter {
	l, g := ratelimit.New(a.clock), ratelimit.NewGauge()
	if a.shared() {
		a.cluster.ledger = ledger.New(a.cluster.counts)
		l.Share(a.cluster.ledger)
		g.Share(a.cluster.ledger)
	}
	a.cluster.limiter, a.cluster.gauge = l, g
	return l
}

// openCounts opens connections of the ledger's own.
func (a *App) openCounts(ctx context.Context) (err error) {
	if a.shared() {
		a.cluster.counts, err = openDatabase(ctx, a.cfg, db.Options{Logger: a.log, Readers: 1, Writers: 4, Beside: a.db})
	}
	return err
}

func (c *cluster) close() error {
	if c.counts == nil {
		return nil
	}
	defer func() { c.counts = nil }()
	return c.counts.Close()
}

// shared tells whether other processes may use the same database.
func (a *App) shared() bool { return a.cfg.Database.URL != "" }

// joinCluster lets this process wake the others, and has what it remembers forgotten when they change it.
func (a *App) joinCluster() {
	if !a.shared() {
		return
	}
	r := wake.NewRelay(a.wake, a.db)
	a.domains.OnChange(func(name string) { a.wake.Wake(domainTopic + ":" + name) })
	a.filters.OnChange(func(account id.Account) { a.wake.Wake(filterTopic + ":" + string(account)) })
	r.Subscribe(domainTopic, a.domains.Forget)
	r.Subscribe(bankTopic, func(string) { a.billing.nudge() })
	r.Subscribe(deliveryKind, func(string) { a.hooks.queue.Nudge() })
	r.Subscribe(filterTopic, func(account string) { a.filters.Forget(id.Account(account)) })
	a.cluster.relay = r
}

// run keeps the ties until ctx ends.
func (c *cluster) run(ctx context.Context) {
	if c.relay == nil {
		return
	}
	var all sync.WaitGroup
	all.Go(func() { c.relay.Run(ctx) })
	all.Go(func() { c.limiter.Run(ctx) })
	all.Go(func() { c.gauge.Run(ctx) })
	all.Wait()
}

// forgetIdle drops what was counted of identities that are as fresh as ever.
func (a *App) forgetIdle(ctx context.Context) error {
	if a.cluster.ledger == nil {
		return nil
	}
	return a.cluster.ledger.Sweep(ctx, a.clock.Now().UnixMicro())
}
