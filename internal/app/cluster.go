package app

import (
	"context"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/ratelimit/ledger"
	"github.com/gonebox/gonebox/internal/wake"
)

// cluster connects this process with the others that share its PostgreSQL: relay passes on wake-ups and cache
// invalidations, and ledger shares the counts of limiter and gauge. On SQLite there are no other processes, and only
// limiter and gauge are set.
type cluster struct {
	// ledgerDB is a pool for the ledger alone. The ledger is used inside transactions that hold a connection of the main pool;
	// taking a second one from there could deadlock.
	ledgerDB *db.DB
	relay    *wake.Relay
	ledger   *ledger.Ledger
	limiter  *ratelimit.Limiter
	gauge    *ratelimit.Gauge
}

// The topics of changes that processes announce to each other through package wake, besides mailboxes.
const (
	domainTopic = "domain"
	filterTopic = "filter"
	faultTopic  = "fault"
	bankTopic   = "bank" // the bank has reported a transaction
)

// newLimiter creates the limiter and the gauge. With PostgreSQL they count together with other processes through the
// ledger.
func (a *App) newLimiter() *ratelimit.Limiter {
	l, g := ratelimit.New(a.clock), ratelimit.NewGauge()
	if a.sharesDatabase() {
		a.cluster.ledger = ledger.New(a.cluster.ledgerDB)
		timeout := max(ledgerTimeout, a.cfg.Database.Timeout*2/5)
		l.Share(a.cluster.ledger, timeout)
		g.Share(a.cluster.ledger, timeout)
	}
	l.OnRefused, g.OnRefused = a.metrics.counts.observeLimited, a.metrics.counts.observeLimited
	a.cluster.limiter, a.cluster.gauge = l, g
	return l
}

// ledgerTimeout is how long a call waits for the ledger before the process decides alone. Where the operator lets the database take longer
// than usual (database.timeout), it is longer in proportion.
const ledgerTimeout = 2 * time.Second

// The connections of the ledger are few, since every use is one short statement.
const (
	ledgerReaders = 1
	ledgerWriters = 4
)

// openLedger opens the connections of the ledger.
func (a *App) openLedger(ctx context.Context) (err error) {
	if a.sharesDatabase() {
		a.cluster.ledgerDB, err = openDatabase(ctx, a.cfg, db.Options{Logger: a.log, Readers: ledgerReaders, Writers: ledgerWriters, SharedWith: a.db})
	}
	return err
}

// close closes the connections of the ledger. Calling it again does nothing.
func (c *cluster) close() error {
	if c.ledgerDB == nil {
		return nil
	}
	defer func() { c.ledgerDB = nil }()
	return c.ledgerDB.Close()
}

// sharesDatabase reports whether other processes may use the same database.
func (a *App) sharesDatabase() bool { return a.cfg.Database.URL != "" }

// joinCluster makes this process announce changes to the others, and drop what it has cached when they announce
// theirs. A lost announcement is made good by a time-out: caches expire within seconds, and queues and periodic jobs
// poll.
func (a *App) joinCluster() {
	if !a.sharesDatabase() {
		return
	}
	a.processes.Share(a.db)
	r := wake.NewRelay(a.wake, a.db)
	a.domains.OnChange(func(name string) { a.wake.Wake(domainTopic + ":" + name) })
	a.faults.OnChange(func(account id.Account) { a.wake.Wake(faultTopic + ":" + string(account)) })
	a.filters.OnChange(func(account id.Account) { a.wake.Wake(filterTopic + ":" + string(account)) })
	r.Subscribe(domainTopic, a.domains.Forget)
	r.Subscribe(bankTopic, func(string) { a.billing.arrived.Set() })
	r.Subscribe(deliveryKind, func(string) { a.webhooks.queue.Wake() })
	if a.outbound != nil {
		r.Subscribe(outbound.Kind, func(string) { a.outbound.Wake() })
		r.Subscribe(account.ForgottenKind, func(string) { a.accounts.WakeForgotten() })
	}
	r.Subscribe(faultTopic, func(account string) { a.faults.Forget(id.Account(account)) })
	r.Subscribe(filterTopic, func(account string) { a.filters.Forget(id.Account(account)) })
	a.cluster.relay = r
}

// run exchanges wake-ups and counts with the other processes until ctx ends. On SQLite it returns at once.
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

// forgetIdle deletes the shared counts that no longer limit anything, so that the tables do not grow.
func (a *App) forgetIdle(ctx context.Context) error {
	if a.cluster.ledger == nil {
		return nil
	}
	return a.cluster.ledger.Sweep(ctx, a.clock.Now().UnixMicro())
}
