package app

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/job"
)

const (
	// reloadEvery is how soon a running service notices what a command changed.
	reloadEvery = 2 * time.Second
	// purgeEvery is how often deleted data is removed from SQLite's files. With mailbox.erase_every before it, what has
	// ended is gone within a minute.
	purgeEvery = 10 * time.Second
	// rawEvery is the longest between two looks at which raw messages are past their time. It counts among the 60 s within which they
	// are erased (package raw).
	rawEvery = 10 * time.Second
	// reserveEvery is how soon a disk is noticed that has space again.
	reserveEvery = 2 * time.Second
	// upkeepEvery is how often old deliveries are erased.
	upkeepEvery = time.Minute
)

// schedule makes the schedules of this process and of all processes together.
func (a *App) schedule() {
	a.own = job.NewSchedule(a.clock, a.log, a.ownTasks()...)
	a.common = job.NewSchedule(a.clock, a.log, a.commonTasks()...)
	if a.shared() {
		a.common.Share(a.db)
	}
}

// ownTasks are for what a process remembers, and for the files that are its own.
func (a *App) ownTasks() []job.Task {
	return []job.Task{
		{Name: "reload domains", Every: reloadEvery, Do: a.domains.Reload},
		{Name: "purge deleted data", Every: purgeEvery, Do: a.db.Purge},
		{Name: "keep disk space in reserve", Every: reserveEvery, Do: a.keepReserve},
		{Name: "note when keys were used", Every: a.cfg.Mailbox.EraseEvery, Do: a.keys.Flush},
	}
}

// commonTasks are for what processes keep together: erasing what is over, and the work that nobody waits for.
func (a *App) commonTasks() []job.Task {
	erase := a.cfg.Mailbox.EraseEvery
	return inBackground([]job.Task{
		{Name: "erase mailboxes", Every: erase, Do: freeing(func(ctx context.Context) error { _, err := a.boxes.Sweep(ctx, a.mail); return err })},
		{Name: "sweep staged content", Every: erase, Do: freeing(a.mail.SweepStaged)},
		{Name: "end guest sessions", Every: erase, Do: freeing(a.guests.Sweep)},
		{Name: "end user tokens", Every: erase, Do: freeing(a.users.Sweep)},
		{Name: "erase raw messages", Every: min(erase, rawEvery), Do: freeing(a.rawStore.sweep)},
		{Name: "end private domains", Every: erase, Do: freeing(func(ctx context.Context) error { return a.domains.Sweep(ctx, a.boxes) })},
		{Name: "look private domains up again", Every: min(erase, a.cfg.Domain.RecheckEvery), Do: a.domains.Recheck},
		{Name: "forget idle identities", Every: erase, Do: a.forgetIdle},
		{Name: "forget idempotency keys", Every: erase, Do: freeing(a.billing.answers.Sweep)},
		{Name: "erase unpaid orders", Every: erase, Do: freeing(a.billing.wallet.Sweep)},
		{Name: "tidy webhook deliveries", Every: upkeepEvery, Do: freeing(a.hooks.Upkeep)},
		{Name: "reconcile bank transactions", Every: a.cfg.Billing.ReconcileEvery, Do: a.billing.wallet.Reconcile, Nudge: a.billing.arrived},
		{Name: "renew subscriptions", Every: a.cfg.Billing.RenewEvery, Do: a.subscriptions.Renew, Due: a.subscriptions.NextEnd},
	})
}

// inBackground gives tasks, which may have much to do, more time for it than calls that a client waits for.
func inBackground(tasks []job.Task) []job.Task {
	for i, t := range tasks {
		tasks[i].Do = func(ctx context.Context) error { return t.Do(db.Background(ctx)) }
	}
	return tasks
}

// freeing has a task carried out on a full disk, since it deletes.
func freeing(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error { return do(db.Freeing(ctx)) }
}
