package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/subscription"
)

// subscription registers the operations on subscriptions of the group billing (docs/spec/billing.md#plans-and-subscriptions).
func (a *API) subscription() {
	with := func(method, id, summary string, status int, codes ...problem.Code) httpkit.Operation {
		return httpkit.Operation{
			ID: id, Method: method, Path: "/me/subscription", Summary: summary, Status: status, Codes: codes,
			Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
		}
	}
	show := with(http.MethodGet, "get-subscription", "Show the subscription and its entitlements", 200)
	show.Text = "`plan` and `entitlements` are those in effect now: the better of the plan that was bought and the one that staff assigned. An expired subscription is shown until another is bought."
	register(a, billingGroup, show, a.getSubscription)
	buy := with(http.MethodPost, "create-subscription", "Buy a plan", 201, problem.PlanUnknown, problem.WalletInsufficientPoints, problem.IdempotencyKeyReused)
	buy.Text = "The points of the first period are debited at once. A running subscription is cancelled without a refund. The new one is renewed at the end of each period, at the price at that time, until the renewal is turned off. The same plan and interval again within 60 seconds is the same purchase: nothing is debited, and the first subscription is returned."
	register(a, billingGroup, buy, a.createSubscription)
	end := with(http.MethodDelete, "end-subscription", "Turn the renewal off", 200)
	end.Text = "The paid period runs to its end. Without a subscription the call has no effect."
	register(a, billingGroup, end, a.endSubscription)
}

// Subscription is a subscription as its owner sees it.
type Subscription struct {
	ID               id.Subscription     `json:"id" doc:"The identifier of the subscription." example:"sub_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	PlanCode         string              `json:"planCode" doc:"The code of the plan that was bought." example:"plus"`
	Interval         plan.Interval       `json:"interval" enum:"monthly,yearly" doc:"The length of a period."`
	Status           subscription.Status `json:"status" enum:"active,cancelled,expired" doc:"active renews at the end of the period, cancelled does not, expired has ended."`
	AutoRenew        bool                `json:"autoRenew" doc:"Whether it is renewed when the period ends."`
	StartedAt        clock.Stamp         `json:"startedAt" doc:"When the subscription was bought."`
	CurrentPeriodEnd clock.Stamp         `json:"currentPeriodEnd" doc:"When the current period ends."`
	Price            int64               `json:"price" doc:"Points that the current period cost."`
}

// SubscriptionState is an account's subscription and what it entitles to.
type SubscriptionState struct {
	Subscription *Subscription `json:"subscription" doc:"Null if there never was one."`
	Plan         string        `json:"plan" doc:"The code of the plan in effect." example:"plus"`
	Entitlements Entitlements  `json:"entitlements" doc:"The quotas of the plan in effect."`
}

func shownState(s subscription.State) SubscriptionState {
	shown := SubscriptionState{Plan: s.Plan.Code, Entitlements: shownEntitlements(s.Plan.Entitlements)}
	if sub := s.Subscription; sub != nil {
		shown.Subscription = &Subscription{
			ID: sub.ID, PlanCode: sub.Plan, Interval: sub.Interval, Status: sub.Status, AutoRenew: sub.AutoRenew,
			StartedAt: clock.Stamp{Time: sub.StartedAt}, CurrentPeriodEnd: clock.Stamp{Time: sub.PeriodEnd}, Price: sub.Price,
		}
	}
	return shown
}

func (a *API) getSubscription(ctx context.Context, _ *struct{}) (*httpkit.One[SubscriptionState], error) {
	state, err := a.Subscriptions.State(ctx, from(ctx).account.ID)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownState(state)), nil
}

// subscriptionWish is the body that buys a plan.
type subscriptionWish struct {
	_        struct{} `additionalProperties:"false"`
	PlanCode string   `json:"planCode" maxLength:"64" doc:"One of GET /plans that has a price." example:"plus"`
	Interval string   `json:"interval" enum:"monthly,yearly" doc:"The length of a period."`
}

func (a *API) createSubscription(ctx context.Context, in *struct {
	httpkit.IdempotencyKey
	Body subscriptionWish
},
) (*httpkit.One[SubscriptionState], error) {
	key, err := in.Parse()
	if err != nil {
		return nil, err
	}
	w := subscription.Params{Plan: in.Body.PlanCode, Interval: plan.Interval(in.Body.Interval)}
	state, err := a.Subscriptions.Buy(ctx, from(ctx).account.ID, w, key)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownState(state)), nil
}

func (a *API) endSubscription(ctx context.Context, _ *struct{}) (*httpkit.One[SubscriptionState], error) {
	state, err := a.Subscriptions.Cancel(ctx, from(ctx).account.ID)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownState(state)), nil
}
