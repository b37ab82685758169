package app

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/job"
)

const (
	// reloadEvery is how soon a running service notices what a command changed.
	reloadEvery = 2 * time.Second
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

// ownTasks are for what a process remembers.
func (a *App) ownTasks() []job.Task {
	return []job.Task{
		{Name: "reload domains", Every: reloadEvery, Do: a.domains.Reload},
		{Name: "note when keys were used", Every: a.cfg.Mailbox.EraseEvery, Do: a.keys.Flush},
	}
}

// commonTasks are for what processes keep together: erasing what is over, and the work that nobody waits for.
func (a *App) commonTasks() []job.Task {
	erase := a.cfg.Mailbox.EraseEvery
	return []job.Task{
		{Name: "erase mailboxes", Every: erase, Do: func(ctx context.Context) error { _, err := a.boxes.Sweep(ctx, a.mail); return err }},
		{Name: "end guest sessions", Every: erase, Do: a.guests.Sweep},
		{Name: "end user tokens", Every: erase, Do: a.users.Sweep},
		{Name: "erase originals", Every: erase, Do: a.originals.sweep},
		{Name: "end private domains", Every: erase, Do: func(ctx context.Context) error { return a.domains.Sweep(ctx, a.boxes) }},
		{Name: "look private domains up again", Every: erase, Do: a.domains.Recheck},
		{Name: "forget idle identities", Every: erase, Do: a.forgetIdle},
		{Name: "forget idempotency keys", Every: erase, Do: a.billing.answers.Sweep},
		{Name: "erase unpaid orders", Every: erase, Do: a.billing.wallet.Sweep},
		{Name: "tidy webhook deliveries", Every: upkeepEvery, Do: a.hooks.Upkeep},
		{Name: "reconcile bank transactions", Every: a.cfg.Billing.ReconcileEvery, Do: a.billing.wallet.Reconcile, Nudge: a.billing.arrived},
		{Name: "renew subscriptions", Every: a.cfg.Billing.RenewEvery, Do: a.subscriptions.Renew, Due: a.subscriptions.NextEnd},
	}
}
