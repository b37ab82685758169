package app

import (
	"time"

	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/netguard"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/webhook"
)

const (
	// deliveryKind names the queue of webhook deliveries, and the topic on which processes announce new ones.
	deliveryKind = "webhook"
	// deliveryPoll is how often the queue is polled for deliveries whose announcement was lost.
	deliveryPoll = 2 * time.Second
	// deliverySlack is what the lease of a job has beyond the time-out of the attempt, for the transactions before and after it.
	deliverySlack = 45 * time.Second
)

// webhooks groups the parts that deliver webhooks. Package webhook signs and retries, the queue holds the deliveries,
// and the guards keep them from the service's own network.
type webhooks struct {
	*webhook.Service
	queue *job.Queue
	guard *netguard.Guard
	local *netguard.Guard // nil: without profile: dev
}

// newWebhooks creates webhooks. dns is the resolver of the service; if it cannot look up addresses, as in tests, that
// of the system is used.
func (a *App) newWebhooks(dataKey []byte, plans webhook.Plans, dns any) (*webhooks, error) {
	cfg := a.cfg.Webhooks
	seal, err := token.Derive(dataKey, "webhook seal")
	if err != nil {
		return nil, err
	}
	h := &webhooks{queue: job.NewQueue(a.db, a.clock, job.Options{
		Kind: deliveryKind, LaneMax: cfg.EndpointInFlight, Max: cfg.InFlight, Lease: cfg.Timeout + deliverySlack, Poll: deliveryPoll,
		Grace: a.cfg.ShutdownGrace, SingleProcess: !a.sharesDatabase(), Logger: a.log, Notify: func() { a.wake.Wake(deliveryKind + ":") },
	})}
	lookup, _ := dns.(netguard.Resolver)
	h.guard = netguard.New(netguard.Options{
		Resolver: lookup, Clock: a.clock, Allow: cfg.AllowNetworks, Timeout: cfg.Timeout, ResponseMax: int64(cfg.ResponseMax),
	})
	var trusted *webhook.Local
	if a.cfg.IsDev() {
		// The system's resolver resolves localhost and the names of containers.
		h.local = netguard.New(netguard.Options{
			Clock: a.clock, Allow: append(local.Networks(), cfg.AllowNetworks...), Plain: true, Timeout: cfg.Timeout, ResponseMax: int64(cfg.ResponseMax),
		})
		trusted = &webhook.Local{Guard: h.local, Client: h.local.Client()}
	}
	h.Service, err = webhook.New(webhook.Parts{
		DB: a.db, Clock: a.clock, Queue: h.queue, Plans: plans, Domains: a.domains, Guard: h.guard, Client: h.guard.Client(), Local: trusted, Seal: seal, Logger: a.log,
		Observe: a.metrics.observeAttempt,
		Policy: webhook.Policy{
			Retries: cfg.RetrySchedule, Jitter: float64(cfg.RetryJitter) / 100, RetryAfterMax: cfg.RetryAfterMax, PauseAfter: cfg.PauseAfterFailures,
			PendingMax: cfg.PendingMax, Timeout: cfg.Timeout, ResponseKept: int(cfg.ResponseKept), OldSecretFor: cfg.OldSecretFor,
			UserAgent: "Gonebox/" + Version,
		},
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// outbox returns where the domains publish their events.
func (h *webhooks) outbox(pendingMax time.Duration) *webhook.Outbox {
	return webhook.NewOutbox(h.queue, pendingMax)
}

// close closes idle connections to endpoints. Run has waited for the attempts by then.
func (h *webhooks) close() {
	h.guard.Close()
	if h.local != nil {
		h.local.Close()
	}
}
