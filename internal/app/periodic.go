package app

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/process"
)

const (
	// reloadEvery is how often what a command may have changed is reloaded: running services see it within a second.
	reloadEvery = 500 * time.Millisecond
	// secretEvery is how often the master secret in data_dir is read again, which gonebox secret rotate may have
	// replaced.
	secretEvery = time.Second
	// purgeEvery is how often deleted data is removed from SQLite's files. Together with mailbox.erase_every it is below the
	// minute within which ended mailboxes must be gone (docs/spec/running.md#erasure).
	purgeEvery = 10 * time.Second
	// rawEvery is how often at least expired raw messages are looked for. It is part of the 60 s within which they are erased
	// (docs/spec/running.md#erasure).
	rawEvery = 10 * time.Second
	// reserveEvery is how often a full disk is checked for space. It is well below the 10 s within which service
	// resumes (docs/spec/running.md#silent-database-and-full-disk).
	reserveEvery = 2 * time.Second
	// reservedEvery is how often mailboxes are looked for whose names are reserved. The first time is at the start: what an earlier
	// version has let clients take ends with the upgrade.
	reservedEvery = time.Hour
	// ingressEvery is how often the states of ingresses are saved that staff see.
	ingressEvery = 5 * time.Second
	// federatedEvery is how often users are looked for about whom the issuer must be asked again.
	federatedEvery = time.Minute
	// upkeepEvery is how often old webhook deliveries are erased.
	upkeepEvery = time.Minute
)

// schedule creates the schedules of the periodic jobs; Run runs them.
func (a *App) schedule() {
	a.localSchedule = job.NewSchedule(a.clock, a.log, a.localTasks()...)
	a.sharedSchedule = job.NewSchedule(a.clock, a.log, a.sharedTasks()...)
	if a.sharesDatabase() {
		a.sharedSchedule.Share(a.db)
	}
}

// localTasks are the periodic jobs that every process runs: for its caches and its own files. An error is logged and
// makes /readyz fail until the next run succeeds.
func (a *App) localTasks() []job.Task {
	tasks := []job.Task{
		{Name: "reload domains", Every: reloadEvery, Do: a.domains.Reload},
		{Name: "reload blocks", Every: reloadEvery, Do: a.blocks.Reload},
		{Name: "end calls of ended accounts and mailboxes", Every: reloadEvery, Do: a.wakeEnded},
		{Name: "purge deleted data", Every: purgeEvery, Do: a.db.Purge},
		{Name: "keep disk space in reserve", Every: reserveEvery, Do: a.restoreReserve},
		{Name: "save the states of ingresses", Every: ingressEvery, Do: func(ctx context.Context) error { return a.ingress.Flush(ctx) }},
		{Name: "save when keys were used", Every: a.cfg.Mailbox.EraseEvery, Do: a.keys.Flush},
	}
	if a.sharesDatabase() {
		tasks = append(tasks, job.Task{Name: "report this process", Every: process.ReportEvery, Do: a.processes.Report})
	}
	if a.cfg.Secrets.Key == "" {
		tasks = append(tasks, job.Task{Name: "reload the master secret", Every: secretEvery, Do: func(context.Context) error { return a.rotation.reload(a.cfg) }})
	}
	return tasks
}

// sharedTasks are the periodic jobs that one process with the role jobs runs for all, under leases in the database:
// erasing expired data, and work that no request waits for. The lease of a job has the job's name, so processes of two
// versions may run a renamed job at the same time.
func (a *App) sharedTasks() []job.Task {
	erase := a.cfg.Mailbox.EraseEvery
	return inBackground([]job.Task{
		{Name: "erase mailboxes", Every: erase, Do: onFullDisk(func(ctx context.Context) error { _, err := a.mailboxes.Sweep(ctx, a.messages); return err })},
		{Name: "end mailboxes with reserved names", Every: reservedEvery, Do: onFullDisk(a.endReserved)},
		{Name: "erase old entries of the delivery log", Every: upkeepEvery, Do: onFullDisk(a.deliveries.Sweep)},
		{Name: "erase fault rules that have ended", Every: upkeepEvery, Do: onFullDisk(a.faults.Sweep)},
		{Name: "erase transcripts", Every: erase, Do: onFullDisk(a.transcripts.Sweep)},
		{Name: "erase changes of mailboxes", Every: erase, Do: onFullDisk(a.mailboxes.SweepChanges)},
		{Name: "erase staged content", Every: erase, Do: onFullDisk(a.messages.SweepStaged)},
		{Name: "erase outgoing mail that was left", Every: upkeepEvery, Do: onFullDisk(func(ctx context.Context) error { return outbound.Sweep(ctx, a.db, a.clock.Now()) })},
		{Name: "erase deleted mail of the sink", Every: upkeepEvery, Do: onFullDisk(a.sink.Sweep)},
		{Name: "erase old mail of projects", Every: min(erase, rawEvery), Do: onFullDisk(a.projects.Sweep)},
		{Name: "erase old mail to staff", Every: min(erase, rawEvery), Do: onFullDisk(a.trimStaffMail)},
		{Name: "erase expired blocks", Every: erase, Do: onFullDisk(a.blocks.Sweep)},
		{Name: "erase guest sessions", Every: erase, Do: onFullDisk(a.guests.Sweep)},
		{Name: "erase user tokens", Every: erase, Do: onFullDisk(a.accounts.Sweep)},
		{Name: "ask the issuer about users", Every: federatedEvery, Do: a.accounts.RefreshFederated},
		{Name: "erase raw messages", Every: min(erase, rawEvery), Do: onFullDisk(a.rawStore.sweep)},
		{Name: "erase private domains", Every: erase, Do: onFullDisk(func(ctx context.Context) error { return a.domains.Sweep(ctx, a.mailboxes) })},
		{Name: "check private domains", Every: min(erase, a.cfg.Domain.RecheckEvery), Do: a.domains.Recheck},
		{Name: "erase idle rate limit counts", Every: erase, Do: a.forgetIdle},
		{Name: "forget which mail was stored", Every: upkeepEvery, Do: onFullDisk(a.once.Sweep)},
		{Name: "erase idempotency keys", Every: erase, Do: onFullDisk(a.billing.responses.Sweep)},
		{Name: "erase unpaid orders", Every: erase, Do: onFullDisk(a.billing.wallet.Sweep)},
		{Name: "erase old webhook deliveries", Every: upkeepEvery, Do: onFullDisk(a.webhooks.Upkeep)},
		{Name: "reconcile bank transactions", Every: a.cfg.Billing.ReconcileEvery, Do: a.billing.wallet.Reconcile, Wake: a.billing.arrived},
		{Name: "renew subscriptions", Every: a.cfg.Billing.RenewEvery, Do: a.subscriptions.Renew, Due: a.subscriptions.NextEnd},
	})
}

// inBackground returns tasks with longer database time-outs than those of requests, since a task may have much to do and
// no client waits for it.
func inBackground(tasks []job.Task) []job.Task {
	for i, t := range tasks {
		tasks[i].Do = func(ctx context.Context) error { return t.Do(db.Background(ctx)) }
	}
	return tasks
}

// onFullDisk returns a job that may use the disk space in reserve, for jobs that delete: on a full disk they free space.
func onFullDisk(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error { return do(db.Freeing(ctx)) }
}

// wakeEnded wakes the calls that wait for mail to mailboxes that staff ended, and to those of accounts whose
// credentials were ended, maybe by a command in another process, which sends no wake-ups, so that they read again and
// end. It looks back long enough for a few late runs and for clocks that differ: a wake-up that is not needed costs a
// read.
func (a *App) wakeEnded(ctx context.Context) error {
	const lookBack, most = 5 * time.Second, 1000
	since := a.clock.Now().Add(-lookBack)
	if err := a.mailboxes.WakeEnded(ctx, since, most); err != nil {
		return err
	}
	ended, err := a.registry.Ended(ctx, since, most)
	if err != nil {
		return err
	}
	for _, owner := range ended {
		if err := a.mailboxes.WakeAccount(ctx, owner); err != nil {
			return err
		}
	}
	return a.keepDevKey(ctx, ended)
}

// endReserved is the periodic job that ends mailboxes on public domains whose names are reserved (docs/spec/mailboxes.md#reserved-names).
func (a *App) endReserved(ctx context.Context) error {
	var domains []string
	for _, d := range a.domains.All() {
		domains = append(domains, d.Name)
	}
	ended, err := a.mailboxes.EndReserved(ctx, domains)
	if len(ended) > 0 {
		a.log.Warn("ended mailboxes whose names are reserved", "mailboxes", len(ended), "addresses", ended[:min(len(ended), 20)])
	}
	return err
}

// arrivals returns a number that rises while any process receives mail. Sweeps pause while it rises.
func (a *App) arrivals(ctx context.Context) (int64, error) {
	if a.sharesDatabase() {
		return a.messages.Inserted(ctx)
	}
	return a.stored.Load(), nil
}
