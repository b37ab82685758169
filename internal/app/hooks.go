package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/netguard"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/webhook"
)

const (
	// deliveryKind names the queue of webhook deliveries, and the topic on which processes tell each other of new ones.
	deliveryKind = "webhook"
	// deliveryPoll is how soon a process notices deliveries that it was not told of.
	deliveryPoll = 2 * time.Second
	// deliverySlack is how much longer than its time-out an attempt may take, with all that belongs to it.
	deliverySlack = 45 * time.Second
	// upkeepEvery is how often old deliveries are erased.
	upkeepEvery = time.Minute
)

// hooks are the parts that deliver webhooks.
type hooks struct {
	*webhook.Service
	queue *job.Queue
	guard *netguard.Guard
	tasks *job.Schedule
}

// newHooks assembles webhooks and has the domains tell them what happens.
func (a *App) newHooks(master []byte, plans webhook.Plans, names any) (*hooks, error) {
	cfg, sole := a.cfg.Webhooks, a.cfg.Database.URL == ""
	seal, err := token.Derive(master, "webhook seal")
	if err != nil {
		return nil, err
	}
	h := &hooks{queue: job.NewQueue(a.db, a.clock, job.Options{
		Kind: deliveryKind, LaneMax: cfg.EndpointInFlight, Max: cfg.InFlight, Lease: cfg.Timeout + deliverySlack, Poll: deliveryPoll,
		Grace: a.cfg.ShutdownGrace, Sole: sole, Logger: a.log, Tell: func() { a.wake.Wake(deliveryKind + ":") },
	})}
	lookup, _ := names.(netguard.Resolver) // a test's may not know addresses: then it is the system's
	h.guard = netguard.New(netguard.Options{
		Resolver: lookup, Clock: a.clock, Allow: cfg.AllowNetworks, Timeout: cfg.Timeout, AnswerMax: int64(cfg.ResponseMax),
	})
	h.Service, err = webhook.New(webhook.Parts{
		DB: a.db, Clock: a.clock, Queue: h.queue, Plans: plans, Domains: a.domains, Guard: h.guard, Client: h.guard.Client(), Seal: seal, Logger: a.log,
		Policy: webhook.Policy{
			Retries: cfg.RetrySchedule, Jitter: float64(cfg.RetryJitter) / 100, RetryAfterMax: cfg.RetryAfterMax, PauseAfter: cfg.PauseAfterFailures,
			PendingMax: cfg.PendingMax, Timeout: cfg.Timeout, AnswerKept: int(cfg.ResponseKept), OldSecretFor: cfg.OldSecretFor,
			UserAgent: "Gonebox/" + Version,
		},
	})
	if err != nil {
		return nil, err
	}
	h.tasks = job.NewSchedule(a.db, a.clock, a.log, sole, job.Task{Name: "tidy webhook deliveries", Every: upkeepEvery, Do: h.Upkeep})
	return h, nil
}

// outbox is where the domains put their events.
func (h *hooks) outbox(pendingMax time.Duration) *webhook.Outbox {
	return webhook.NewOutbox(h.queue, pendingMax)
}

// run delivers until ctx ends, and lets the attempts under way finish.
func (h *hooks) run(ctx context.Context) {
	defer h.guard.Close()
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() { h.Run(ctx) })
	both.Go(func() { h.tasks.Run(ctx) })
}

func (h *hooks) healthy() error { return errors.Join(h.queue.Healthy(), h.tasks.Healthy()) }
