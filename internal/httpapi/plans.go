package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// plans registers the operations on plans of the group billing (docs/spec/billing.md#plans-and-subscriptions).
func (a *API) plans() {
	register(a, billingGroup, httpkit.Operation{
		ID: "list-plans", Method: http.MethodGet, Path: "/plans", Summary: "List the plans", Status: 200,
		Text:  "From the smallest to the largest, in the order to show them. An account without a subscription has the plan `free`; callers without an account have less.",
		Limit: ratelimit.Other,
	}, a.listPlans)
}

// Plan is a row of the catalogue.
type Plan struct {
	Code         string       `json:"code" doc:"The planCode of POST /me/subscription." example:"plus"`
	Name         string       `json:"name" doc:"The name of the plan." example:"Plus"`
	Prices       PlanPrices   `json:"prices" doc:"The prices in points."`
	Entitlements Entitlements `json:"entitlements" doc:"What the plan allows."`
}

// PlanPrices are the prices of a plan.
type PlanPrices struct {
	Monthly *int64 `json:"monthly" nullable:"true" doc:"Points for a calendar month; null if the plan is not sold by the month."`
	Yearly  *int64 `json:"yearly" nullable:"true" doc:"Points for a calendar year; null if the plan is not sold by the year."`
}

// Entitlements are the quotas of a plan, each by its public name, which is its configuration key too
// (docs/spec/limits.md#quotas-of-plans).
type Entitlements struct {
	TTLDefault        int64  `json:"mailbox.ttl.default" doc:"Seconds to live of a mailbox that is created without ttl."`
	TTLMax            int64  `json:"mailbox.ttl.max" doc:"Maximum of ttl, in seconds."`
	LifetimeMax       *int64 `json:"mailbox.lifetime.max" nullable:"true" doc:"Maximum lifetime of a mailbox with all extensions, in seconds; null if there is none."`
	MailboxesMax      int    `json:"mailboxes.max" doc:"Live mailboxes at once."`
	DailyMailMax      int    `json:"mail.daily.max" doc:"Messages accepted per UTC day."`
	RawRetention      int64  `json:"raw.retention" doc:"Seconds that the raw message is kept."`
	DomainsMax        int    `json:"domains.max" doc:"Private domains."`
	ProjectsMax       int    `json:"projects.max" doc:"Projects."`
	FiltersMax        int    `json:"filters.max" doc:"Extraction filters."`
	WebhooksMax       int    `json:"webhooks.max" doc:"Webhook endpoints."`
	KeysMax           int    `json:"keys.max" doc:"Developer keys."`
	KeysMailboxCreate string `json:"keys.mailbox_create" doc:"Rate of mailbox creation with one developer key." example:"60/1m"`
	KeysCalls         string `json:"keys.calls" doc:"Rate of calls with one developer key." example:"120/1m"`
}

func shownEntitlements(e plan.Entitlements) Entitlements {
	shown := Entitlements{
		TTLDefault: int64(e.TTLDefault / time.Second), TTLMax: int64(e.TTLMax / time.Second), MailboxesMax: e.MailboxesMax,
		DailyMailMax: e.DailyMailMax, RawRetention: int64(e.RawRetention / time.Second), DomainsMax: e.DomainsMax, ProjectsMax: e.ProjectsMax, FiltersMax: e.FiltersMax,
		WebhooksMax: e.WebhooksMax, KeysMax: e.KeysMax, KeysMailboxCreate: e.KeysMailboxCreate.String(), KeysCalls: e.KeysCalls.String(),
	}
	if e.LifetimeMax > 0 {
		seconds := int64(e.LifetimeMax / time.Second)
		shown.LifetimeMax = &seconds
	}
	return shown
}

func shownPlan(p plan.Plan) Plan {
	price := func(i plan.Interval) *int64 {
		points, sold := p.Price(i)
		if !sold && p.Tier() == plan.TierPaid {
			return nil
		}
		return &points
	}
	return Plan{
		Code: p.Code, Name: p.Name, Prices: PlanPrices{Monthly: price(plan.Monthly), Yearly: price(plan.Yearly)},
		Entitlements: shownEntitlements(p.Entitlements),
	}
}

func (a *API) listPlans(context.Context, *struct{}) (*httpkit.Many[Plan], error) {
	var shown []Plan
	for _, p := range a.Plans.All() {
		shown = append(shown, shownPlan(p))
	}
	return httpkit.Page(shown, ""), nil
}
