// Package subscription implements subscriptions: buying a plan with points, renewal and expiry at the end of a period,
// and the plan that an account has in effect (docs/spec/billing.md#plans-and-subscriptions). It keeps no points and
// counts no usage.
//
// Buy debits the points and inserts the subscription in one transaction. Renew, a periodic job, settles each
// subscription whose period has ended: it debits the next period or stores that the subscription expired. Plan and
// Plans combine what staff assigned and what was bought; they compare the end of the period with the clock, so that an
// unpaid period ends on time even if Renew is late.
//
// An account has at most one active subscription, which an index of the database enforces. Nothing is cached, so a
// change takes effect in every process with the next call. What an account has beyond the quotas of its plan is not
// touched here: the packages that count it refuse additions.
package subscription

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/plan"
)

// Status is the status of a subscription. The values are stored and shown. Active changes to one of the other two,
// which are final.
type Status string

// The statuses.
const (
	Active    Status = "active"
	Cancelled Status = "cancelled" // replaced by another one
	Expired   Status = "expired"   // its paid period ended
)

// Subscription is a stored subscription.
type Subscription struct {
	ID        id.Subscription
	Account   id.Account
	Plan      string // its code
	Interval  plan.Interval
	Status    Status
	AutoRenew bool
	Price     int64     // of the current period, in points
	StartedAt time.Time // when it was bought
	PeriodEnd time.Time // of the current period

	// Periods are counted from anchor, so that they end on the same day of each month; see end.
	anchor time.Time // the beginning of the current row of periods
	period int       // number of the current one in that row, from 1
}

// Wallet debits points. Package wallet implements it.
type Wallet interface {
	// DebitTx debits points, a positive number, from an account in the caller's transaction. If it fails it changes
	// nothing. reference is the subscription, plan and interval are what it is to. Error: wallet.insufficient_points.
	DebitTx(ctx context.Context, tx *db.Tx, account id.Account, points int64, reference, plan, interval string) error
}

// Service implements subscriptions. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	catalogue plan.Catalogue
	wallet    Wallet
	responses *idempotency.Responses
	onExpired func(ctx context.Context, tx *db.Tx, e Expiry) error // nil: nothing
}

// New returns a Service. Renew must be called periodically, best at NextEnd.
func New(d *db.DB, c clock.Clock, catalogue plan.Catalogue, w Wallet, responses *idempotency.Responses) *Service {
	return &Service{db: d, clock: c, catalogue: catalogue, wallet: w, responses: responses}
}

// OnExpired sets what is called when Renew does not renew a subscription, in the transaction that stores that it expired. It must be
// called before the service is used.
func (s *Service) OnExpired(fn func(ctx context.Context, tx *db.Tx, e Expiry) error) {
	s.onExpired = fn
}

// State is the subscription and the plan in effect of an account.
type State struct {
	Subscription *Subscription // the newest one that was not replaced, which may have expired; nil: none
	Plan         plan.Plan     // the one in effect
}

// State returns the state of an account. For an unknown account the error wraps sql.ErrNoRows.
func (s *Service) State(ctx context.Context, account id.Account) (State, error) {
	sub, err := newest(ctx, s.db, account)
	if err != nil {
		return State{}, err
	}
	p, _, err := s.Plan(ctx, account)
	return State{Subscription: s.shown(sub), Plan: p}, err
}

// shown returns a subscription with its current status: one whose period has ended is expired, even if that is not
// stored yet. It changes sub itself.
func (s *Service) shown(sub *Subscription) *Subscription {
	if sub != nil && sub.Status == Active && sub.ended(s.clock.Now()) {
		sub.Status = Expired
	}
	return sub
}

// ended reports whether the current period is over; its end does not belong to it.
func (s *Subscription) ended(now time.Time) bool { return !now.Before(s.PeriodEnd) }

// Plan returns the plan that an account has in effect, from the one that staff assigned and the one that was bought,
// and whether the account is disabled. One statement reads it each time, so that changes take effect for the next call
// in every process, and a period ends by the clock.
//
// Of an account that is disabled the plan is returned too; callers decide what to refuse. For an unknown account the
// error wraps sql.ErrNoRows.
func (s *Service) Plan(ctx context.Context, account id.Account) (p plan.Plan, disabled bool, err error) {
	st, err := standingOf(ctx, s.db, account)
	if err != nil {
		return plan.Plan{}, false, err
	}
	return s.planOf(st), st.disabled, nil
}

// Effective is the plan in effect of an account.
type Effective struct {
	plan.Plan
	Disabled bool // the account is disabled
}

// Plans returns the plans in effect of several accounts in one query. Unknown accounts are left out. It serves a batch
// of mails, whose recipients belong to many accounts.
func (s *Service) Plans(ctx context.Context, accounts []id.Account) (map[id.Account]Effective, error) {
	all, err := standingsOf(ctx, s.db, accounts)
	if err != nil {
		return nil, err
	}
	plans := make(map[id.Account]Effective, len(all))
	for _, st := range all {
		plans[st.account] = Effective{s.planOf(st), st.disabled}
	}
	return plans, nil
}

// planOf returns the plan in effect. A subscription counts until the end of its period, whatever its stored status.
func (s *Service) planOf(st standing) plan.Plan {
	if st.bought == "" || s.clock.Now().UnixMicro() >= st.until {
		return s.catalogue.Together(st.assigned)
	}
	return s.catalogue.Together(st.assigned, st.bought)
}

// Cancel turns the renewal of an account's subscription off. The paid period runs to its end. Without a running
// subscription it has no effect. It returns the state after the change, in which the subscription is still active.
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

// EndTx ends the subscription of an account that leaves, if it has one.
func (s *Service) EndTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	if _, err := tx.Exec(ctx, endAll, account, s.clock.Now().UnixMicro()); err != nil {
		return fmt.Errorf("end the subscription of %s: %w", account, err)
	}
	return nil
}
