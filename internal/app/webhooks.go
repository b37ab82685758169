package app

import (
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
)

// hooks are the parts that deliver webhooks.
type hooks struct {
	*webhook.Service
	queue *job.Queue
	guard *netguard.Guard
}

// newHooks assembles webhooks and has the domains tell them what happens.
func (a *App) newHooks(master []byte, plans webhook.Plans, names any) (*hooks, error) {
	cfg := a.cfg.Webhooks
	seal, err := token.Derive(master, "webhook seal")
	if err != nil {
		return nil, err
	}
	h := &hooks{queue: job.NewQueue(a.db, a.clock, job.Options{
		Kind: deliveryKind, LaneMax: cfg.EndpointInFlight, Max: cfg.InFlight, Lease: cfg.Timeout + deliverySlack, Poll: deliveryPoll,
		Grace: a.cfg.ShutdownGrace, Sole: !a.shared(), Logger: a.log, Tell: func() { a.wake.Wake(deliveryKind + ":") },
	})}
	lookup, _ := names.(netguard.Resolver) // a test's may not know addresses: then it is the system's
	h.guard = netguard.New(netguard.Options{
		Resolver: lookup, Clock: a.clock, Allow: cfg.AllowNetworks, Timeout: cfg.Timeout, AnswerMax: int64(cfg.ResponseMax),
	})
	h.Service, err = webhook.New(webhook.Parts{
		DB: a.db, Clock: a.clock, Queue: h.queue, Plans: plans, Domains: a.domains, Guard: h.guard, Client: h.guard.Client(), Seal: seal, Logger: a.log,
		Observe: a.metrics.attempted,
		Policy: webhook.Policy{
			Retries: cfg.RetrySchedule, Jitter: float64(cfg.RetryJitter) / 100, RetryAfterMax: cfg.RetryAfterMax, PauseAfter: cfg.PauseAfterFailures,
			PendingMax: cfg.PendingMax, Timeout: cfg.Timeout, AnswerKept: int(cfg.ResponseKept), OldSecretFor: cfg.OldSecretFor,
			UserAgent: "Gonebox/" + Version,
		},
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// outbox is where the domains put their events.
func (h *hooks) outbox(pendingMax time.Duration) *webhook.Outbox {
	return webhook.NewOutbox(h.queue, pendingMax)
}
