package subscription

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/problem"
)

// Params are the input of Buy. Buy checks them. They are also the body that an idempotency key is bound to.
type Params struct {
	Plan     string
	Interval plan.Interval
}

// repeatedWithin is how long after a purchase another one of the same plan and interval counts as the same, whatever its
// idempotency key: a double click, or a client that tries again because it has seen no response.
const repeatedWithin = time.Minute

// Buy starts a subscription in one transaction: it debits the points and cancels the previous subscription without a
// refund (docs/spec/billing.md#plans-and-subscriptions). A repeated call with the same key returns the same result and
// has no further effect; key may be empty. A call that buys again, within repeatedWithin, what the account has just bought
// returns that subscription as it is, and debits nothing.
//
// The returned plan is that of the stored result and not read again: a repeated call gets the first response, even if
// staff have assigned another plan since. Errors: plan.unknown, wallet.insufficient_points, idempotency.key_reused.
func (s *Service) Buy(ctx context.Context, account id.Account, w Params, key idempotency.Key) (State, error) {
	call := idempotency.Call{Account: account, Operation: operation, Key: key, Body: w}
	bought, err := idempotency.Once(ctx, s.responses, call, func(ctx context.Context, tx *db.Tx) (purchase, error) {
		return s.buyTx(ctx, tx, account, w)
	})
	if err != nil {
		return State{}, err
	}
	return State{Subscription: &bought.Subscription, Plan: s.catalogue.Together(bought.Assigned, w.Plan)}, nil
}

// operation is the name of the operation under which idempotency keys are stored. It is part of the stored rows.
const operation = "create-subscription"

// purchase is the stored result of a call. It is stored as JSON, so the fields of Subscription that are not exported
// are missing in a repeated response.
type purchase struct {
	Subscription Subscription
	Assigned     string // the plan that staff had assigned
}

// buyTx debits the price and replaces the active subscription. The previous one ends before the new one is inserted,
// since the database allows one active subscription. Errors: plan.unknown, wallet.insufficient_points.
func (s *Service) buyTx(ctx context.Context, tx *db.Tx, account id.Account, w Params) (purchase, error) {
	price, err := s.price(w)
	if err != nil {
		return purchase{}, err
	}
	st, err := standingOf(ctx, tx, account)
	if err != nil {
		return purchase{}, err
	}
	now := s.clock.Now().Truncate(time.Microsecond)
	last, err := newest(ctx, tx, account)
	if err != nil {
		return purchase{}, err
	}
	if last.isPurchase(w, now) {
		return purchase{Subscription: *last, Assigned: st.assigned}, nil
	}
	sub := Subscription{
		ID: id.New[id.Subscription](now), Account: account, Plan: w.Plan, Interval: w.Interval, Status: Active, AutoRenew: true,
		Price: price, StartedAt: now, PeriodEnd: end(now, w.Interval, 1), anchor: now, period: 1,
	}
	if err := s.wallet.DebitTx(ctx, tx, account, price, string(sub.ID), w.Plan, string(w.Interval)); err != nil {
		return purchase{}, err
	}
	if err := replaceTx(ctx, tx, account, now); err != nil {
		return purchase{}, err
	}
	return purchase{Subscription: sub, Assigned: st.assigned}, insertTx(ctx, tx, sub)
}

// isPurchase reports whether a subscription, which may be nil, is what a purchase would buy, and was bought less than repeatedWithin
// ago.
func (s *Subscription) isPurchase(w Params, now time.Time) bool {
	return s != nil && s.Status == Active && !s.ended(now) && s.Plan == w.Plan && s.Interval == w.Interval && now.Sub(s.StartedAt) < repeatedWithin
}

// price returns the price of the first period. Renewals use it too, so a plan that is no longer sold is not renewed. A
// plan without any price is called not for sale, one with only the other price not sold for the interval. Error:
// plan.unknown.
func (s *Service) price(w Params) (int64, error) {
	p, known := s.catalogue.Plan(w.Plan)
	price, sold := p.Price(w.Interval)
	switch {
	case !known:
		return 0, problem.Detailf(problem.PlanUnknown, "GET /plans lists the plans")
	case p.Code == plan.FreeCode || !sold && p.Tier() == plan.TierFree:
		return 0, problem.Detailf(problem.PlanUnknown, "the plan %s is not for sale", p.Code)
	case !sold:
		return 0, problem.Detailf(problem.PlanUnknown, "the plan %s is not sold %s", p.Code, w.Interval)
	}
	return price, nil
}
