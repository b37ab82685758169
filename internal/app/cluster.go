package app

import (
	"context"
	"sync"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/ratelimit/ledger"
	"github.com/gonebox/gonebox/internal/wake"
)

// cluster is what ties this process to the others that share its PostgreSQL. On SQLite there are none, and it does nothing.
type cluster struct {
	relay   *wake.Relay
	ledger  *ledger.Ledger
	limiter *ratelimit.Limiter
}

// What processes tell each other that they have changed, beside mailboxes: package wake carries it.
const (
	domainTopic = "domain"
	filterTopic = "filter"
)

// newLimiter counts against the limits, together with other processes where there may be some.
func (a *App) newLimiter() *ratelimit.Limiter {
	l := ratelimit.New(a.clock)
	if a.shared() {
		a.cluster.ledger = ledger.New(a.db)
		l.Share(a.cluster.ledger)
	}
	a.cluster.limiter = l
	return l
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
	all.Wait()
}

// forgetIdle drops what was counted of identities that are as fresh as ever.
func (a *App) forgetIdle(ctx context.Context) error {
	if a.cluster.ledger == nil {
		return nil
	}
	return a.cluster.ledger.Sweep(ctx, a.clock.Now().UnixMicro())
}
