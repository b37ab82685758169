package plan

import (
	"reflect"
	"time"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Together returns the plan of an account with several plans: the one that staff assigned and the one that it bought
// (docs/spec/billing.md#plans-and-subscriptions). Each entitlement is the best of any of them. The code is that of the
// last plan that has all of these entitlements, or else of the last one. Codes that are not in the catalogue are
// ignored; if none is left it is the free plan.
//
// A code may be missing in the catalogue because the operator has removed the plan from the configuration while
// accounts still have it.
func (c Catalogue) Together(codes ...string) Plan {
	var known []Plan
	for _, code := range codes {
		if p, ok := c.Plan(code); ok {
			known = append(known, p)
		}
	}
	if len(known) == 0 {
		return c.Free()
	}
	all := known[0]
	for _, p := range known[1:] {
		all = all.with(p)
	}
	return all
}

// with returns a plan with the best of each entitlement of two. DeepEqual is used because limits are slices.
func (p Plan) with(other Plan) Plan {
	if p.Code == other.Code {
		return p
	}
	best := p.Entitlements.with(other.Entitlements)
	named := other
	if !reflect.DeepEqual(best, other.Entitlements) && reflect.DeepEqual(best, p.Entitlements) {
		named = p
	}
	return Plan{
		Code: named.Code, Name: named.Name, Entitlements: best,
		Prices: Prices{Monthly: max(p.Prices.Monthly, other.Prices.Monthly), Yearly: max(p.Prices.Yearly, other.Prices.Yearly)}, // the tier follows
	}
}

// with returns the better value of each entitlement. Every field must be in it: a field that is forgotten would be
// zero.
func (e Entitlements) with(o Entitlements) Entitlements {
	return Entitlements{
		TTLDefault:        max(e.TTLDefault, o.TTLDefault),
		TTLMax:            max(e.TTLMax, o.TTLMax),
		LifetimeMax:       longest(e.LifetimeMax, o.LifetimeMax),
		MailboxesMax:      max(e.MailboxesMax, o.MailboxesMax),
		DailyMailMax:      max(e.DailyMailMax, o.DailyMailMax),
		RawRetention:      max(e.RawRetention, o.RawRetention),
		DomainsMax:        max(e.DomainsMax, o.DomainsMax),
		ProjectsMax:       max(e.ProjectsMax, o.ProjectsMax),
		FiltersMax:        max(e.FiltersMax, o.FiltersMax),
		WebhooksMax:       max(e.WebhooksMax, o.WebhooksMax),
		KeysMax:           max(e.KeysMax, o.KeysMax),
		KeysMailboxCreate: widest(e.KeysMailboxCreate, o.KeysMailboxCreate),
		KeysCalls:         widest(e.KeysCalls, o.KeysCalls),
	}
}

// longest returns the longer of two lifetimes; zero means unlimited.
func longest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// widest returns the limit with the higher long-term rate. A limit without windows is unlimited.
func widest(a, b ratelimit.Limit) ratelimit.Limit {
	if len(b) == 0 || len(a) > 0 && rate(b) > rate(a) {
		return b
	}
	return a
}

// rate returns the long-term rate of a limit per second, that of its tightest window. A client that sends all the time
// is bounded by that window.
func rate(l ratelimit.Limit) float64 {
	least := float64(l[0].Count) / l[0].Per.Seconds()
	for _, w := range l[1:] {
		least = min(least, float64(w.Count)/w.Per.Seconds())
	}
	return least
}
