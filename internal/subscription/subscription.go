// Package subscription holds what an account pays for: buy a plan with points, renew it when its period ends, let it
// lapse, and which plan an account has in effect (decisions §2 Plans). It refuses to keep points, which are the
// wallet's, and to count what anybody uses.
package subscription

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/plan"
)

// Status says whether a subscription is the one in effect.
type Status string

// The statuses of decisions §2.
const (
	Active    Status = "active"
	Cancelled Status = "cancelled" // another one took its place
	Expired   Status = "expired"   // its paid period ended
)

// Subscription is a subscription as it is stored.
type Subscription struct {
	ID        id.Subscription
	Account   id.Account
	Plan      string // the code in the catalogue
	Interval  plan.Interval
	Status    Status
	AutoRenew bool
	Price     int64 // points that the current period cost
	StartedAt time.Time
	PeriodEnd time.Time // of the current period

	anchor time.Time // where the present row of periods began
	period int       // which of that row the current one is, from 1
}

// Wallet is where the points are.
type Wallet interface {
	// DebitTx takes points from an account and says what for; it changes nothing when it fails. Error:
	// wallet.insufficient_points.
	DebitTx(ctx context.Context, tx *db.Tx, account id.Account, points int64, reference, note string) error
}

// Service is the use of subscriptions. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	catalogue plan.Catalogue
	wallet    Wallet
	answers   *idempotency.Answers
}

// New assembles the service. Renew must be called now and then, best at NextEnd.
func New(d *db.DB, c clock.Clock, catalogue plan.Catalogue, w Wallet, answers *idempotency.Answers) *Service {
	return &Service{db: d, clock: c, catalogue: catalogue, wallet: w, answers: answers}
}

// State is how an account stands.
type State struct {
	Subscription *Subscription // the newest one that was not replaced, which may have expired; nil: there was never any
	Plan         plan.Plan     // the one in effect
}

// State tells how an account stands (spec §4 GET /me/subscription).
func (s *Service) State(ctx context.Context, account id.Account) (State, error) {
	sub, err := newest(ctx, s.db, account)
	if err != nil {
		return State{}, err
	}
	p, _, err := s.Plan(ctx, account)
	return State{Subscription: s.shown(sub), Plan: p}, err
}

// shown is a subscription as of now: one whose period has ended has expired, whether that has been noted or not.
func (s *Service) shown(sub *Subscription) *Subscription {
	if sub != nil && sub.Status == Active && sub.ended(s.clock.Now()) {
		sub.Status = Expired
	}
	return sub
}

func (s *Subscription) ended(now time.Time) bool { return !now.Before(s.PeriodEnd) }

// Plan is the plan that an account has in effect: what staff assigned and what it has bought, together. One
// statement reads it, each time, so that what staff or the owner change holds for the next call, in every process; and a
// period ends by the clock. disabled tells that the account may not act.
func (s *Service) Plan(ctx context.Context, account id.Account) (p plan.Plan, disabled bool, err error) {
	st, err := standingOf(ctx, s.db, account)
	if err != nil {
		return plan.Plan{}, false, err
	}
	return s.planOf(st), st.disabled, nil
}

// Plans are the plans in effect of several accounts, read at once. An account that there is not is left out.
func (s *Service) Plans(ctx context.Context, accounts []id.Account) (map[id.Account]plan.Plan, error) {
	all, err := standingsOf(ctx, s.db, accounts)
	if err != nil {
		return nil, err
	}
	plans := make(map[id.Account]plan.Plan, len(all))
	for _, st := range all {
		plans[st.account] = s.planOf(st)
	}
	return plans, nil
}

func (s *Service) planOf(st standing) plan.Plan {
	if st.bought == "" || s.clock.Now().UnixMicro() >= st.until {
		return s.catalogue.Together(st.assigned)
	}
	return s.catalogue.Together(st.assigned, st.bought)
}

// Cancel turns the renewal of an account's subscription off. The paid period is not shortened (spec §3). Where nothing
// would be renewed nothing changes.
func (s *Service) Cancel(ctx context.Context, account id.Account) (State, error) {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, endRenewal, account)
		return err
	})
	if err != nil {
		return State{}, err
	}
	return s.State(ctx, account)
}
