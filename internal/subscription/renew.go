package subscription

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// dueBatch bounds how many due subscriptions one query returns and are settled concurrently, so that they share commits.
const dueBatch = 32

// Renew settles every subscription whose period has ended: it is renewed if that is turned on and can be paid, and
// expires if not. Each has its own transaction, which reads it again, so that several processes may call Renew
// concurrently. One that fails does not affect the others; the next call retries it.
//
// The list is read in the order of the ends and continues after the last one, so that a subscription that fails is not
// read again by the same call. The error joins those of all that failed.
func (s *Service) Renew(ctx context.Context) error {
	var faults []error
	now := s.clock.Now().Truncate(time.Microsecond)
	for last := (mark{}); ; {
		// now stays the same for the whole call, so that the loop ends: what becomes due meanwhile is left to the next
		// call.
		due, err := dueAfter(ctx, s.db, now, last, dueBatch)
		if err != nil || len(due) == 0 {
			return errors.Join(append(faults, err)...)
		}
		faults = append(faults, s.settleAll(ctx, due, now)...)
		last = due[len(due)-1]
	}
}

// settleAll settles subscriptions concurrently, each in a goroutine that ends with its transaction, and returns when
// all have ended.
func (s *Service) settleAll(ctx context.Context, due []mark, now time.Time) []error {
	faults := make([]error, len(due))
	var all sync.WaitGroup
	for i, m := range due {
		all.Go(func() {
			if err := s.settle(ctx, m.id, now); err != nil {
				faults[i] = fmt.Errorf("settle %s: %w", m.id, err)
			}
		})
	}
	all.Wait()
	return faults
}

// Cause says why a subscription was not renewed.
type Cause string

// The causes. A subscription without a cause is renewed.
const (
	TurnedOff Cause = "off"      // its renewal was turned off
	Unsold    Cause = "unsold"   // the plan is no longer sold
	Short     Cause = "points"   // the points do not suffice
	Disabled  Cause = "disabled" // the account is disabled and could not use the plan
)

// Expiry is a subscription that expired, with the reason. It is what the function set by OnExpired gets.
type Expiry struct {
	Subscription
	PlanName string
	Cause    Cause
}

// settle renews a subscription or stores that it expired. now is the time at which it was found to be due.
func (s *Service) settle(ctx context.Context, sub id.Subscription, now time.Time) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		current, err := activeTx(ctx, tx, sub)
		if err != nil || current == nil || !current.ended(now) {
			return err // settled by another process, or replaced
		}
		cause, err := s.renewTx(ctx, tx, *current, now)
		if err != nil || cause == "" {
			return err
		}
		return s.expireTx(ctx, tx, *current, cause, now)
	})
}

// expireTx stores that a subscription expired.
func (s *Service) expireTx(ctx context.Context, tx *db.Tx, sub Subscription, cause Cause, now time.Time) error {
	if _, err := tx.Exec(ctx, endOne, sub.ID, Expired, now.UnixMicro()); err != nil || s.onExpired == nil {
		return err
	}
	e := Expiry{Subscription: sub, PlanName: sub.Plan, Cause: cause}
	if p, known := s.catalogue.Plan(sub.Plan); known {
		e.PlanName = p.Name
	}
	return s.onExpired(ctx, tx, e)
}

// renewTx renews a subscription at the catalogue's current price, or returns the cause why it does not, which is no error: the
// subscription then expires.
func (s *Service) renewTx(ctx context.Context, tx *db.Tx, sub Subscription, now time.Time) (Cause, error) {
	if !sub.AutoRenew {
		return TurnedOff, nil
	}
	w := Params{Plan: sub.Plan, Interval: sub.Interval}
	price, err := s.price(w)
	if problem.Has(err, problem.PlanUnknown) {
		return Unsold, nil
	}
	if err != nil {
		return "", err
	}
	if st, err := standingOf(ctx, tx, sub.Account); err != nil {
		return "", err
	} else if st.disabled {
		return Disabled, nil
	}
	err = s.wallet.DebitTx(ctx, tx, sub.Account, price, string(sub.ID), w.Plan, string(w.Interval))
	if problem.Has(err, problem.WalletInsufficientPoints) {
		return Short, nil
	}
	if err != nil {
		return "", err
	}
	sub = sub.renewed(now, price)
	_, err = tx.Exec(ctx, nextPeriod, sub.ID, sub.anchor.UnixMicro(), sub.period, sub.PeriodEnd.UnixMicro(), sub.Price)
	return "", err
}

// NextEnd returns when the next period ends or has ended, which is when to call Renew again. It is zero if none is
// running. The periodic job uses it to run when a period ends and not only at its interval.
func (s *Service) NextEnd(ctx context.Context) (time.Time, error) { return nextEnd(ctx, s.db) }
