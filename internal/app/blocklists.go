package app

import (
	"time"

	"github.com/gonebox/gonebox/internal/dnsbl"
	"github.com/gonebox/gonebox/internal/resolver"
)

const (
	blocklistsWait     = 2 * time.Second // for all lists together, at most
	blocklistsCache    = 8 << 20         // octets of responses, of all lists together
	blocklistsInFlight = 256             // queries to one list at once
)

// newBlocklists returns the DNS blocklists of the configuration. Each has a resolver of its own, with its own circuit breaker: a list
// that does not respond is not asked for a while, and neither the other lists nor the look-ups of the service suffer.
func (a *App) newBlocklists(o Options) *dnsbl.Checker {
	wait := min(a.cfg.DNS.Timeout, blocklistsWait)
	lists := make([]dnsbl.List, len(a.cfg.SMTP.DNSBL))
	for i, zone := range a.cfg.SMTP.DNSBL {
		lists[i].Zone = zone
		if own, ok := o.Resolver.(dnsbl.Resolver); ok {
			lists[i].Resolver = own
			continue
		}
		lists[i].Resolver = resolver.New(resolver.Config{
			Addr: a.cfg.DNS.Resolver, Clock: a.clock, Timeout: wait, Attempts: 1, CacheBytes: blocklistsCache / len(lists), MaxInFlight: blocklistsInFlight,
		})
	}
	return dnsbl.New(lists, wait)
}
