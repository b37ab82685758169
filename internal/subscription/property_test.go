package subscription_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/subscription"
)

// book is a simple model of what an account should have.
type book struct {
	account id.Account
	balance int64
	params  subscription.Params
	renew   bool
	bought  time.Time
	anchor  time.Time
	n       int // periods since the anchor; 0: no subscription
	lapsed  bool
}

func (b *book) end() time.Time {
	months := map[plan.Interval]int{plan.Monthly: 1, plan.Yearly: 12}[b.params.Interval] * b.n
	at := b.anchor.AddDate(0, months, 0)
	for at.Day() < b.anchor.Day() && at.Day() < 4 { // AddDate goes on into the next month where ours ends
		at = at.AddDate(0, 0, -1)
	}
	return at
}

func (b *book) price() int64 {
	p, _ := plan.Default().Plan(b.params.Plan)
	points, _ := p.Price(b.params.Interval)
	return points
}

// settle applies Renew to the model.
func (b *book) settle(now time.Time) {
	if b.n == 0 || b.lapsed || now.Before(b.end()) {
		return
	}
	if !b.renew || b.balance < b.price() {
		b.lapsed = true
		return
	}
	b.balance -= b.price()
	if now.Sub(b.end()) > 24*time.Hour {
		b.anchor, b.n = now, 0
	}
	b.n++
}

// In any order of purchases, cancellations, credits and renewals, accounts have the plans that they paid for, each period is
// paid once, and each ledger adds up.
func TestPlansMatchPayments(t *testing.T) {
	each(t, func(t *testing.T, s *fixture) {
		rapid.Check(t, func(rt *rapid.T) {
			points := rapid.Int64Range(100, 900).Draw(rt, "points")
			b := &book{account: s.account(points), balance: points}
			s.tryBuying(rt, b)
			for range rapid.IntRange(3, 15).Draw(rt, "steps") {
				s.step(rt, b)
				s.agrees(rt, b)
			}
		})
	})
}

func (s *fixture) step(t *rapid.T, b *book) {
	const day = 24 * time.Hour
	switch rapid.SampledFrom([]string{"pay in", "buy", "turn off", "wait", "wait", "wait on the end", "task", "task"}).Draw(t, "step") {
	case "pay in":
		points := rapid.Int64Range(1, 400).Draw(t, "points")
		s.credit(b.account, points)
		b.balance += points
	case "buy":
		s.tryBuying(t, b)
	case "turn off":
		if _, err := s.Cancel(t.Context(), b.account); err != nil {
			t.Fatal(err)
		}
		if b.n > 0 && !b.lapsed {
			b.renew = false
		}
	case "wait":
		s.clock.Advance(rapid.SampledFrom([]time.Duration{time.Microsecond, time.Hour, 23 * time.Hour, 3 * day, 20 * day, 40 * day, 400 * day}).Draw(t, "pause"))
	case "wait on the end":
		if b.n > 0 && b.end().After(s.clock.Now()) {
			s.until(b.end())
		}
	case "task":
		s.renew()
		b.settle(s.clock.Now())
	}
}

func (s *fixture) tryBuying(t *rapid.T, b *book) {
	w := rapid.SampledFrom([]subscription.Params{plusMonthly, plusYearly, proMonthly}).Draw(t, "params")
	wanted := *b
	wanted.params = w
	_, err := s.Buy(t.Context(), b.account, w, "")
	if now := s.clock.Now(); b.n > 0 && !b.lapsed && now.Before(b.end()) && b.params == w && now.Sub(b.bought) < time.Minute {
		if err != nil { // it is the same purchase, which debits nothing
			t.Fatalf("Buy(%v) again at once, with %d points: %v", w, b.balance, err)
		}
		return
	}
	if poor := b.balance < wanted.price(); poor != problem.Has(err, problem.WalletInsufficientPoints) || !poor && err != nil {
		t.Fatalf("Buy(%v) with %d points: %v, want it refused for too few points: %t", wanted, b.balance, err, poor)
	}
	if err == nil {
		*b = book{account: b.account, balance: b.balance - wanted.price(), params: w, renew: true, bought: s.clock.Now(), anchor: s.clock.Now(), n: 1}
	}
}

// agrees fails the test unless the account matches its model.
func (s *fixture) agrees(t *rapid.T, b *book) {
	state, err := s.State(t.Context(), b.account)
	if err != nil {
		t.Fatal(err)
	}
	running := b.n > 0 && !b.lapsed && s.clock.Now().Before(b.end())
	code, status := "free", subscription.Expired
	if running {
		code, status = b.params.Plan, subscription.Active
	}
	sub := state.Subscription
	if state.Plan.Code != code || (sub == nil) != (b.n == 0) {
		t.Fatalf("plan %s, subscription %+v; want %s", state.Plan.Code, sub, code)
	}
	if sub != nil && (sub.Status != status || sub.Plan != b.params.Plan || sub.AutoRenew != b.renew || !sub.PeriodEnd.Equal(b.end()) || sub.Price != b.price()) {
		t.Fatalf("%+v; want %+v until %s, %s", sub, b, b.end(), status)
	}
	sum, err := db.Value[int64](s.db.QueryRow(t.Context(), "SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM wallet_entry WHERE account_id = $1", b.account))
	if err != nil || sum != b.balance || s.balance(b.account) != b.balance {
		t.Fatalf("the ledger adds up to %d, %v, the balance is %d; want %d", sum, err, s.balance(b.account), b.balance)
	}
}
