package subscription

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/problem"
)

// Wish is what an account wants to buy (spec §2 Subscription input).
type Wish struct {
	Plan     string
	Interval plan.Interval
}

// Buy begins a subscription: the points are debited, and the subscription before is cancelled, without a refund (spec §3). All
// of it is done or nothing. The same call with the same key, which may be empty, answers the same and does nothing more.
// Errors: plan.unknown, wallet.insufficient_points, idempotency.key_reused.
func (s *Service) Buy(ctx context.Context, account id.Account, w Wish, key idempotency.Key) (State, error) {
	call := idempotency.Call{Account: account, Operation: operation, Key: key, Body: w}
	bought, err := idempotency.Once(ctx, s.answers, call, func(ctx context.Context, tx *db.Tx) (purchase, error) {
		return s.buyTx(ctx, tx, account, w)
	})
	if err != nil {
		return State{}, err
	}
	return State{Subscription: &bought.Subscription, Plan: s.catalogue.Together(bought.Assigned, w.Plan)}, nil
}

// operation names the call among those that take an Idempotency-Key.
const operation = "create-subscription"

// purchase is what is kept of a call: all that its answer is made from.
type purchase struct {
	Subscription Subscription
	Assigned     string // the plan that staff had assigned
}

func (s *Service) buyTx(ctx context.Context, tx *db.Tx, account id.Account, w Wish) (purchase, error) {
	price, err := s.price(w)
	if err != nil {
		return purchase{}, err
	}
	st, err := standingOf(ctx, tx, account)
	if err != nil {
		return purchase{}, err
	}
	now := s.clock.Now().Truncate(time.Microsecond)
	sub := Subscription{
		ID: id.New[id.Subscription](now), Account: account, Plan: w.Plan, Interval: w.Interval, Status: Active, AutoRenew: true,
		Price: price, StartedAt: now, PeriodEnd: end(now, w.Interval, 1), anchor: now, period: 1,
	}
	if err := s.wallet.DebitTx(ctx, tx, account, price, string(sub.ID), note(w)); err != nil {
		return purchase{}, err
	}
	if err := replaceTx(ctx, tx, account, now); err != nil {
		return purchase{}, err
	}
	return purchase{Subscription: sub, Assigned: st.assigned}, insertTx(ctx, tx, sub)
}

// price is what the first period of a wish costs. Error: plan.unknown.
func (s *Service) price(w Wish) (int64, error) {
	p, known := s.catalogue.Plan(w.Plan)
	price, sold := p.Price(w.Interval)
	switch {
	case !known:
		return 0, problem.Detailf(problem.PlanUnknown, "GET /plans lists the plans there are")
	case p.Code == plan.FreeCode || !sold && p.Tier() == plan.TierFree:
		return 0, problem.Detailf(problem.PlanUnknown, "the plan %s is not for sale", p.Code)
	case !sold:
		return 0, problem.Detailf(problem.PlanUnknown, "the plan %s is not sold %s", p.Code, w.Interval)
	}
	return price, nil
}

// note is what the ledger says of a debit.
func note(w Wish) string { return fmt.Sprintf("%s, %s", w.Plan, w.Interval) }
