package subscription_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/wallet"
)

// newYear is the start of the fake clock, on a day that not every month has.
var newYear = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

var (
	plusMonthly = subscription.Params{Plan: "plus", Interval: plan.Monthly} // 50 points
	plusYearly  = subscription.Params{Plan: "plus", Interval: plan.Yearly}  // 500 points
	proMonthly  = subscription.Params{Plan: "pro", Interval: plan.Monthly}  // 200 points
)

// fixture is a Service with its clock, database and wallet.
type fixture struct {
	*subscription.Service
	t      testing.TB
	clock  *clock.Fake
	db     *db.DB
	wallet *wallet.Service
}

func open(t testing.TB, d *db.DB) *fixture {
	c := clock.NewFake(newYear)
	s := &fixture{t: t, clock: c, db: d, wallet: wallet.New(wallet.Parts{DB: d, Clock: c})}
	s.sell(plan.Default())
	return s
}

// sell replaces the catalogue, as a restart with another configuration does.
func (s *fixture) sell(c plan.Catalogue) {
	s.Service = subscription.New(s.db, s.clock, c, s.wallet, idempotency.New(s.db, s.clock, 24*time.Hour))
}

// each runs a test on every engine.
func each(t *testing.T, test func(t *testing.T, s *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) { test(t, open(t, d)) })
}

// account creates an account with points.
func (s *fixture) account(points int64) id.Account {
	s.t.Helper()
	account := id.New[id.Account](s.clock.Now())
	s.exec(`INSERT INTO account (id, email, password, epoch, locale, role, plan, disabled, created_at, totp_last, totp_spent)
		VALUES ($1, $2, '', 1, 'en', 'user', 'free', 0, 0, 0, 0)`, account, string(account)+"@example.org")
	s.credit(account, points)
	return account
}

func (s *fixture) exec(query string, args ...any) {
	s.t.Helper()
	err := s.db.Update(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *fixture) credit(account id.Account, points int64) {
	s.t.Helper()
	if points == 0 {
		return
	}
	err := s.db.Update(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		_, err := s.wallet.CreditTx(ctx, tx, account, wallet.Adjustment, points, "", "")
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *fixture) buy(account id.Account, w subscription.Params) subscription.State {
	s.t.Helper()
	state, err := s.Buy(context.Background(), account, w, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

func (s *fixture) renew() {
	s.t.Helper()
	if err := s.Renew(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *fixture) state(account id.Account) subscription.State {
	s.t.Helper()
	state, err := s.State(context.Background(), account)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

func (s *fixture) balance(account id.Account) int64 {
	s.t.Helper()
	w, err := s.wallet.Of(context.Background(), account)
	if err != nil {
		s.t.Fatal(err)
	}
	return w.Balance
}

// until moves the clock to a time.
func (s *fixture) until(at time.Time) { s.clock.Advance(at.Sub(s.clock.Now())) }

// is fails the test unless an account has a balance, a plan in effect and a subscription's status.
func (s *fixture) is(account id.Account, when string, balance int64, code string, status subscription.Status) {
	s.t.Helper()
	state := s.state(account)
	got := subscription.Status("none")
	if state.Subscription != nil {
		got = state.Subscription.Status
	}
	if all, err := s.Plans(context.Background(), []id.Account{account}); err != nil || all[account].Code != code {
		s.t.Errorf("%s: Plans = %s, %v, want %s", when, all[account].Code, err, code)
	}
	if b := s.balance(account); b != balance || state.Plan.Code != code || got != status {
		s.t.Errorf("%s: %d points, plan %s, subscription %s; want %d, %s, %s", when, b, state.Plan.Code, got, balance, code, status)
	}
}

func wantCode(t testing.TB, what string, err error, code problem.Code) {
	t.Helper()
	if !problem.Has(err, code) {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestBuyDebitsPointsAndSetsThePlanAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(60)
		s.is(account, "before", 60, "free", "none")
		state := s.buy(account, plusMonthly)
		sub := state.Subscription
		if sub.Plan != "plus" || sub.Interval != plan.Monthly || sub.Status != subscription.Active || !sub.AutoRenew || sub.Price != 50 ||
			!sub.StartedAt.Equal(newYear) || !sub.PeriodEnd.Equal(time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)) || state.Plan.Code != "plus" {
			t.Errorf("Buy = %+v with the plan %s, want plus, monthly for 50 points, active from %v to 28 February, and renewing", sub, state.Plan.Code, newYear)
		}
		s.is(account, "after", 10, "plus", subscription.Active)
		if again := s.state(account); *again.Subscription != *sub {
			t.Errorf("stored %+v, answered %+v, want Subscription %v", again.Subscription, sub, *sub)
		}
		entries, err := s.wallet.Entries(t.Context(), account, 0, 10)
		if err != nil || len(entries) != 2 || entries[0].Amount != -50 || entries[0].Reference != string(sub.ID) || entries[0].Plan != "plus" || entries[0].Interval != "monthly" {
			t.Errorf("the ledger is %+v, %v, want two entries, the last -50 for %s with the plan plus and the interval monthly", entries, err, sub.ID)
		}
	})
}

func TestBuyReplacesWithoutARefund(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(1000)
		first := s.buy(account, plusYearly).Subscription
		s.clock.Advance(time.Hour)
		second := s.buy(account, proMonthly).Subscription
		s.is(account, "after", 300, "pro", subscription.Active)
		if second.ID == first.ID || !second.StartedAt.Equal(s.clock.Now()) || s.state(account).Subscription.ID != second.ID {
			t.Errorf("Buy after %+v = %+v, want another subscription that begins now and is the current one", first, second)
		}
		var status string
		if err := s.db.QueryRow(t.Context(), "SELECT status FROM subscription WHERE id = $1", first.ID).Scan(&status); err != nil || status != "cancelled" {
			t.Errorf(`the first is %s, %v, want "cancelled"`, status, err)
		}
		s.until(second.PeriodEnd) // the first would still run
		s.renew()
		s.is(account, "a month later", 100, "pro", subscription.Active)
	})
}

func TestFailedBuyChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(249)
		s.buy(account, plusMonthly)
		for _, c := range []struct {
			params subscription.Params
			code   problem.Code
		}{
			{proMonthly, problem.WalletInsufficientPoints},
			{plusYearly, problem.WalletInsufficientPoints},
			{subscription.Params{Plan: "gold", Interval: plan.Monthly}, problem.PlanUnknown},
			{subscription.Params{Plan: "free", Interval: plan.Monthly}, problem.PlanUnknown},
			{subscription.Params{Plan: "guest", Interval: plan.Yearly}, problem.PlanUnknown},
			{subscription.Params{Plan: "plus", Interval: "weekly"}, problem.PlanUnknown},
			{subscription.Params{}, problem.PlanUnknown},
		} {
			_, err := s.Buy(t.Context(), account, c.params, "")
			wantCode(t, fmt.Sprint(c.params), err, c.code)
		}
		s.is(account, "after", 199, "plus", subscription.Active)
		if poor := s.account(0); true {
			_, err := s.Buy(t.Context(), poor, plusMonthly, "")
			wantCode(t, "without a wallet", err, problem.WalletInsufficientPoints)
			s.is(poor, "without a wallet", 0, "free", "none")
		}
	})
}

// A purchase of the same plan and interval within a minute is the same purchase, also at the same moment and with other keys: it debits
// nothing and returns the first one's subscription.
func TestSamePurchaseDebitsOnce(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(500)
		subs := make([]id.Subscription, 16)
		var all sync.WaitGroup
		for i := range subs {
			all.Go(func() {
				state, err := s.Buy(t.Context(), account, plusMonthly, idempotency.Key([]string{"", fmt.Sprint(i)}[i%2]))
				if err != nil {
					t.Errorf("Buy(%v) number %d: %v", plusMonthly, i, err)
					return
				}
				subs[i] = state.Subscription.ID
			})
		}
		all.Wait()
		if distinct := slices.Compact(slices.Sorted(slices.Values(subs))); len(distinct) != 1 {
			t.Errorf("16 calls of Buy(%v) at once returned the subscriptions %v, want one", plusMonthly, distinct)
		}
		s.is(account, "16 purchases at once", 450, "plus", subscription.Active)
		s.clock.Advance(59 * time.Second)
		if again, err := s.Buy(t.Context(), account, plusMonthly, ""); err != nil || again.Subscription.ID != subs[0] || again.Plan.Code != "plus" {
			t.Errorf("Buy(%v) after 59 s = %+v, %v, want the subscription %s", plusMonthly, again.Subscription, err, subs[0])
		}
		s.is(account, "after 59 s", 450, "plus", subscription.Active)
		s.clock.Advance(time.Second)
		if later, err := s.Buy(t.Context(), account, plusMonthly, ""); err != nil || later.Subscription.ID == subs[0] {
			t.Errorf("Buy(%v) after a minute = %+v, %v, want a new subscription", plusMonthly, later.Subscription, err)
		}
		s.is(account, "after a minute", 400, "plus", subscription.Active)
	})
}

// A purchase of something else replaces the subscription at once, and so does going back.
func TestAnotherPurchaseIsNoRepetition(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(1000)
		for _, c := range []struct {
			params subscription.Params
			left   int64
		}{{plusMonthly, 950}, {proMonthly, 750}, {plusMonthly, 700}, {plusYearly, 200}} {
			if _, err := s.Buy(t.Context(), account, c.params, ""); err != nil {
				t.Fatalf("Buy(%v): %v", c.params, err)
			}
			s.is(account, fmt.Sprint(c.params), c.left, c.params.Plan, subscription.Active)
		}
	})
}

// Renewal that was turned off stays off when a purchase is repeated late.
func TestRepeatedPurchaseDoesNotRenew(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(100)
		s.buy(account, plusMonthly)
		if _, err := s.Cancel(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		again, err := s.Buy(t.Context(), account, plusMonthly, "")
		if err != nil || again.Subscription.AutoRenew {
			t.Errorf("Buy(%v) after Cancel = %+v, %v, want the first subscription, without renewal", plusMonthly, again.Subscription, err)
		}
	})
}

func TestConcurrentBuysSpendPointsOnce(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(50)
		var bought, refused atomic.Int32
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				switch _, err := s.Buy(t.Context(), account, []subscription.Params{plusMonthly, proMonthly}[i%2], ""); {
				case err == nil:
					bought.Add(1)
				case problem.Has(err, problem.WalletInsufficientPoints):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if bought.Load() != 8 || refused.Load() != 8 { // one of plus is debited, the others are the same purchase
			t.Errorf("16 purchases at once with points for one: %d bought, %d refused, want 8 and 8", bought.Load(), refused.Load())
		}
		s.is(account, "after", 0, "plus", subscription.Active)
	})
}

func TestSameKeyBuysOnce(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account, other := s.account(1000), s.account(1000)
		first, err := s.Buy(t.Context(), account, plusMonthly, "k")
		if err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Hour)
		s.exec("UPDATE account SET plan = 'pro' WHERE id = $1", account)
		again, err := s.Buy(t.Context(), account, plusMonthly, "k")
		if err != nil || again.Subscription.ID != first.Subscription.ID || !again.Subscription.PeriodEnd.Equal(first.Subscription.PeriodEnd) ||
			again.Subscription.Status != subscription.Active || !again.Subscription.AutoRenew || again.Plan.Code != "plus" {
			t.Errorf("Buy again with the same key = %+v, %v, want the subscription %s as before, active until %v, renewing, with the plan plus", again, err, first.Subscription.ID, first.Subscription.PeriodEnd)
		}
		_, err = s.Buy(t.Context(), account, proMonthly, "k")
		wantCode(t, "another params", err, problem.IdempotencyKeyReused)
		s.is(account, "after", 950, "pro", subscription.Active) // which staff assigned
		if _, err := s.Buy(t.Context(), other, proMonthly, "k"); err != nil {
			t.Errorf("another account's key: %v", err)
		}
	})
}

func TestMonthlyRenewalsKeepTheirDay(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(13 * 50)
		sub := s.buy(account, plusMonthly).Subscription
		for month := time.February; month <= 12; month++ {
			s.until(sub.PeriodEnd.Add(-time.Microsecond))
			s.renew()
			s.is(account, "before the end", 50*(14-int64(month)), "plus", subscription.Active)
			s.until(sub.PeriodEnd)
			if next, err := s.NextEnd(t.Context()); err != nil || !next.Equal(sub.PeriodEnd) {
				t.Errorf("what is due is due at %s, %v, want %v", next, err, sub.PeriodEnd)
			}
			s.is(account, "at the end, before the task", 50*(14-int64(month)), "free", subscription.Expired)
			s.renew()
			s.renew()
			s.is(account, "renewed", 50*(13-int64(month)), "plus", subscription.Active)
			renewed := s.state(account).Subscription
			last := time.Date(2026, month+2, 0, 12, 0, 0, 0, time.UTC) // of the next month
			if !renewed.PeriodEnd.Equal(last) || renewed.ID != sub.ID || !renewed.StartedAt.Equal(sub.StartedAt) || renewed.Price != 50 {
				t.Errorf("renewed %+v, want until %s", renewed, last)
			}
			if next, err := s.NextEnd(t.Context()); err != nil || !next.Equal(last) {
				t.Errorf("the next end is %s, %v, want %v", next, err, last)
			}
			sub = renewed
		}
		s.until(sub.PeriodEnd)
		s.renew()
		s.is(account, "the points are spent", 0, "plus", subscription.Active)
		s.until(s.state(account).Subscription.PeriodEnd)
		s.renew()
		s.is(account, "no points are left", 0, "free", subscription.Expired)
		if next, err := s.NextEnd(t.Context()); err != nil || !next.IsZero() {
			t.Errorf("NextEnd without any subscription = %s, %v, want none", next, err)
		}
		s.credit(account, 1000)
		s.renew()
		s.is(account, "points that come later", 1000, "free", subscription.Expired)
		s.buy(account, plusYearly)
		s.is(account, "bought again", 500, "plus", subscription.Active)
	})
}

func TestYearlyPlanIsRenewedForAYear(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(1000)
		s.buy(account, plusYearly)
		s.until(newYear.AddDate(1, 0, 0))
		s.renew()
		s.is(account, "a year later", 0, "plus", subscription.Active)
		if got := s.state(account).Subscription.PeriodEnd; !got.Equal(newYear.AddDate(2, 0, 0)) {
			t.Errorf("until %s, want %v", got, newYear.AddDate(2, 0, 0))
		}
	})
}

func TestCancelLetsThePaidPeriodRun(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(1000)
		if state, err := s.Cancel(t.Context(), account); err != nil || state.Subscription != nil || state.Plan.Code != "free" {
			t.Errorf("Cancel without a subscription = %+v, %v, want none, and the plan free", state, err)
		}
		sub := s.buy(account, plusMonthly).Subscription
		for range 2 {
			state, err := s.Cancel(t.Context(), account)
			if err != nil || state.Subscription.AutoRenew || state.Subscription.Status != subscription.Active || !state.Subscription.PeriodEnd.Equal(sub.PeriodEnd) || state.Plan.Code != "plus" {
				t.Errorf("Cancel = %+v, %v, want it active with the plan plus until %v, and not renewing", state, err, sub.PeriodEnd)
			}
		}
		s.until(sub.PeriodEnd.Add(-time.Microsecond))
		s.renew()
		s.is(account, "before the end", 950, "plus", subscription.Active)
		s.until(sub.PeriodEnd)
		s.is(account, "at the end, before the task", 950, "free", subscription.Expired)
		s.renew()
		s.is(account, "after the task", 950, "free", subscription.Expired)
		if state, err := s.Cancel(t.Context(), account); err != nil || state.Subscription.Status != subscription.Expired {
			t.Errorf("Cancel after the end = %+v, %v, want the status %s", state, err, subscription.Expired)
		}
	})
}

func TestLongOutageCostsOnePeriodFromNow(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		short, long := s.account(1000), s.account(1000)
		end := s.buy(short, plusMonthly).Subscription.PeriodEnd
		s.until(end.Add(6 * time.Hour))
		s.renew()
		s.is(short, "six hours late", 900, "plus", subscription.Active)
		if got := s.state(short).Subscription.PeriodEnd; !got.Equal(newYear.AddDate(0, 2, 0)) {
			t.Errorf("six hours late: until %s, want %v", got, newYear.AddDate(0, 2, 0))
		}
		s.buy(long, plusMonthly)
		s.clock.Advance(200 * 24 * time.Hour)
		s.renew()
		s.is(long, "half a year late", 900, "plus", subscription.Active)
		if got := s.state(long).Subscription.PeriodEnd; !got.Equal(s.clock.Now().AddDate(0, 1, 0)) {
			t.Errorf("half a year late: until %s at %s, want %v", got, s.clock.Now(), s.clock.Now().AddDate(0, 1, 0))
		}
	})
}

// A renewal costs the catalogue's price when it is due, and fails if the plan is no longer sold.
func TestRenewalsFollowTheCatalogue(t *testing.T) {
	dearer, monthlyOnly := plan.Default().All(), plan.Default().All()
	dearer[1].Prices = plan.Prices{Monthly: 60, Yearly: 600}
	monthlyOnly[1].Prices = plan.Prices{Yearly: 500}
	each(t, func(t *testing.T, s *fixture) {
		for what, c := range map[string]struct {
			plans   []plan.Plan
			balance int64
			code    string
			status  subscription.Status
		}{
			"another price":             {dearer, 890, "plus", subscription.Active},
			"not sold by the month":     {monthlyOnly, 950, "free", subscription.Expired},
			"not in the catalogue":      {plan.Default().All()[:1], 950, "free", subscription.Expired},
			"the same as it always was": {plan.Default().All(), 900, "plus", subscription.Active},
		} {
			s.sell(plan.Default())
			account := s.account(1000)
			end := s.buy(account, plusMonthly).Subscription.PeriodEnd
			changed, err := plan.New(plan.Default().Guest(), c.plans...)
			if err != nil {
				t.Fatal(err)
			}
			s.sell(changed)
			s.until(end)
			s.renew()
			s.is(account, what, c.balance, c.code, c.status)
		}
	})
}

func TestDiscontinuedPlanRunsToTheEndOfItsPeriod(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(1000)
		end := s.buy(account, plusMonthly).Subscription.PeriodEnd
		plans := plan.Default().All()
		plans[1].Prices = plan.Prices{}
		unsold, err := plan.New(plan.Default().Guest(), plans...)
		if err != nil {
			t.Fatal(err)
		}
		s.sell(unsold)
		_, err = s.Buy(t.Context(), account, plusMonthly, "")
		wantCode(t, "buying it", err, problem.PlanUnknown)
		s.until(end.Add(-time.Microsecond))
		s.is(account, "in its period", 950, "plus", subscription.Active)
		s.until(end)
		s.renew()
		s.is(account, "after it", 950, "free", subscription.Expired)
	})
}

func TestRemovedPlanGivesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(1000)
		s.buy(account, plusMonthly)
		changed, err := plan.New(plan.Default().Guest(), plan.Default().Free())
		if err != nil {
			t.Fatal(err)
		}
		s.sell(changed)
		s.is(account, "in its period", 950, "free", subscription.Active)
	})
}

func TestDisabledAccountIsNotCharged(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(1000)
		end := s.buy(account, plusMonthly).Subscription.PeriodEnd
		s.exec("UPDATE account SET disabled = 1")
		if _, disabled, err := s.Plan(t.Context(), account); err != nil || !disabled {
			t.Errorf("disabled is %t, %v, want disabled true", disabled, err)
		}
		s.until(end)
		s.renew()
		s.is(account, "disabled", 950, "free", subscription.Expired)
	})
}

func TestBetterPlanIsInEffect(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		account := s.account(1000)
		sub := s.buy(account, plusMonthly).Subscription
		for assigned, want := range map[string]string{"free": "plus", "plus": "plus", "pro": "pro", "gone": "plus"} {
			s.exec("UPDATE account SET plan = $1", assigned)
			s.is(account, "assigned "+assigned, 950, want, subscription.Active)
		}
		s.exec("UPDATE account SET plan = 'pro'")
		s.until(sub.PeriodEnd)
		s.is(account, "after the end", 950, "pro", subscription.Expired)
	})
}

func TestPlansReadsManyAccounts(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		var accounts []id.Account
		for i := range 5 {
			account := s.account(int64(50 * (i % 2)))
			if i%2 == 1 {
				s.buy(account, plusMonthly)
			}
			accounts = append(accounts, account)
		}
		unknown := id.New[id.Account](newYear)
		many := append(slices.Repeat(accounts[:4], 300), unknown, accounts[4]) // more than one statement holds
		all, err := s.Plans(t.Context(), many)
		if err != nil || len(all) != 5 {
			t.Fatalf("%d plans, %v, want 5", len(all), err)
		}
		for i, account := range accounts {
			if want := []string{"free", "plus"}[i%2]; all[account].Code != want {
				t.Errorf("account %d has %s, want %s", i, all[account].Code, want)
			}
		}
		if none, err := s.Plans(t.Context(), nil); err != nil || len(none) != 0 {
			t.Errorf("Plans of no account = %v, %v, want none", none, err)
		}
	})
}

func TestUnknownAccountHasNoPlan(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		unknown := id.New[id.Account](newYear)
		if _, _, err := s.Plan(t.Context(), unknown); err == nil {
			t.Error("Plan of an unknown account returned no error, want one")
		}
		if _, err := s.Buy(t.Context(), unknown, plusMonthly, ""); err == nil {
			t.Error("Buy for an unknown account returned no error, want one")
		}
	})
}

// With several processes each of many periods that end together is renewed once.
func TestConcurrentRenewalsHappenOnce(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		accounts := make([]id.Account, 40)
		for i := range accounts {
			accounts[i] = s.account(int64(50 + 50*(i%2))) // every other one cannot pay again
			s.buy(accounts[i], plusMonthly)
		}
		s.clock.Advance(28 * 24 * time.Hour)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := s.Renew(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i, account := range accounts {
			if i%2 == 0 {
				s.is(account, "could not pay", 0, "free", subscription.Expired)
			} else {
				s.is(account, "could pay", 0, "plus", subscription.Active)
			}
		}
	})
}

// broken is a wallet that fails for one account.
type broken struct {
	*wallet.Service
	account id.Account
}

func (b broken) DebitTx(ctx context.Context, tx *db.Tx, account id.Account, points int64, reference, plan, interval string) error {
	if account == b.account {
		return errors.New("broken")
	}
	return b.Service.DebitTx(ctx, tx, account, points, reference, plan, interval)
}

func TestFailedRenewalIsRetriedAndBlocksNoOther(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		first, second := s.account(100), s.account(100)
		s.buy(first, plusMonthly)
		s.buy(second, plusMonthly)
		s.clock.Advance(28 * 24 * time.Hour)
		responses := idempotency.New(s.db, s.clock, time.Hour)
		if err := subscription.New(s.db, s.clock, plan.Default(), broken{s.wallet, first}, responses).Renew(t.Context()); err == nil {
			t.Error("Renew with a failing wallet returned no error, want one")
		}
		s.is(first, "failed", 50, "free", subscription.Expired)
		s.is(second, "beside it", 0, "plus", subscription.Active)
		s.renew()
		s.is(first, "tried again", 0, "plus", subscription.Active)
		s.is(second, "beside it", 0, "plus", subscription.Active)
	})
}
