package blackbox_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// standing is the subscription state of an account, as a client reads it.
type standing struct {
	Subscription *struct {
		ID, PlanCode, Interval, Status string
		AutoRenew                      bool
		StartedAt, CurrentPeriodEnd    time.Time
		Price                          int64
	}
	Plan         string
	Entitlements map[string]any
}

// grant gives an account points by a ledger entry, as the operator's command does.
func (s *service) grant(u user, points int64) {
	s.t.Helper()
	d := s.Database()
	for _, query := range []string{
		`INSERT INTO wallet (account_id, balance, sequence) VALUES ($1, CAST($2 AS BIGINT), 1)
			ON CONFLICT (account_id) DO UPDATE SET balance = wallet.balance + excluded.balance, sequence = wallet.sequence + 1`,
		`INSERT INTO wallet_entry (account_id, sequence, id, kind, amount, balance_after, reference, note, created_at)
			SELECT account_id, sequence, 'txn_' || account_id || sequence, 'adjustment', CAST($2 AS BIGINT), balance, '', '', 0 FROM wallet WHERE account_id = $1`,
	} {
		if _, err := d.Exec(query, u.Account.ID, points); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *service) subscribe(u user, code, interval string) (got standing) {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/me/subscription", u.Token, fields{"planCode": code, "interval": interval})
	if a.Status != http.StatusCreated {
		s.t.Fatalf("subscribe to %s: %d %s, want Status %v", code, a.Status, a.Body, http.StatusCreated)
	}
	a.Into(s.t, &got)
	return got
}

func (s *service) standing(u user) standing {
	s.t.Helper()
	return get[standing](s, "/me/subscription", u.Token)
}

// stands fails the test unless the account has the plan in effect, the points and the subscription status ("": it never
// had one).
func (s *service) stands(when string, u user, plan string, points int64, status string) {
	s.t.Helper()
	got, balance, known := s.standing(u), s.points(u), ""
	if got.Subscription != nil {
		known = got.Subscription.Status
	}
	if got.Plan != plan || balance != points || known != status {
		s.t.Errorf("%s: plan %s, %d points, status %q; want %s, %d, %q", when, got.Plan, balance, known, plan, points, status)
	}
	if shown := get[account](s, "/me", u.Token); shown.Plan != plan {
		s.t.Errorf("%s: GET /me says %s, want Plan %v", when, shown.Plan, plan)
	}
	if diff := cmp.Diff(s.offers()[plan].Entitlements, got.Entitlements); diff != "" {
		s.t.Errorf("%s: the entitlements (-want of the plan, +got):\n%s", when, diff)
	}
}

// until moves the clock to a time.
func (s *service) until(at time.Time) { s.Clock.Advance(at.Sub(s.Clock.Now())) }

// settled waits until the service has processed a period that ended: until the account has the points and the status it
// should have then. The plan in effect follows from the clock, so it does not show whether that has happened.
func (s *service) settled(u user, points int64, status string) {
	s.t.Helper()
	d := s.Database()
	eventually(s.t, "the end of a period", func() bool {
		got := column(s.t, d, "SELECT status FROM subscription WHERE account_id = $1 AND status <> 'cancelled' ORDER BY id DESC LIMIT 1", u.Account.ID)
		return got[0] == status && s.points(u) == points
	})
}

func TestBoughtPlanAppliesAtOnce(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	if got := s.standing(u); got.Subscription != nil || got.Plan != "free" || !cmp.Equal(got.Entitlements, freely()) {
		t.Errorf("before buying: %+v, want the free plan and no subscription", got)
	}
	box, key := s.create(u.Token, nil), s.key(u, nil)
	s.grant(u, 60)
	got := s.subscribe(u, "plus", "monthly")
	sub := got.Subscription
	identifier(t, sub.ID, "sub")
	noon := apptest.Noon()
	if sub.PlanCode != "plus" || sub.Interval != "monthly" || sub.Status != "active" || !sub.AutoRenew || sub.Price != 50 ||
		!sub.StartedAt.Equal(noon) || !sub.CurrentPeriodEnd.Equal(noon.AddDate(0, 1, 0)) || got.Plan != "plus" || !cmp.Equal(got.Entitlements, s.offers()["plus"].Entitlements) {
		t.Errorf("the response is %+v with %+v, want plus, bought monthly for 50 points from now on, with its entitlements", got, sub)
	}
	s.stands("after", u, "plus", 10, "active")
	if again := s.standing(u); !cmp.Equal(again, got) {
		t.Errorf("GET /me/subscription = %+v, want %+v as bought", again, got)
	}
	entry := get[[]ledgerEntry](s, "/me/wallet/transactions", u.Token)[0]
	if entry.Kind != "subscription" || entry.Amount != -50 || entry.BalanceAfter != 10 || text(entry.Reference) != sub.ID ||
		text(entry.Plan) != "plus" || text(entry.Interval) != "monthly" || entry.Transfer != nil {
		t.Errorf(`the ledger: %+v, want Kind "subscription", Amount -50, BalanceAfter 10, Plan "plus", Interval "monthly", Transfer null and Reference %v`, entry, sub.ID)
	}
	if shown := get[mailbox](s, "/mailboxes/me", box.Token); shown.Tier != "paid" {
		t.Errorf(`the mailbox is %s, want Tier "paid"`, shown.Tier)
	}
	if shown := get[[]developerKey](s, "/me/api-keys", u.Token)[0]; shown.Tier != "plus" || shown.Prefix != key.Prefix {
		t.Errorf(`the key: %+v, want Tier "plus" and Prefix %v`, shown, key.Prefix)
	}
	s.stands("another", s.account("eve@example.org"), "free", 0, "")
}

func TestBuyingPlanIsRefused(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.other": "60/1h", "http.body_max": "1KiB", "plans.pro.price.yearly": "0"})
	u := s.account("ada@example.org")
	s.grant(u, 49)
	path := "/me/subscription"
	a := s.Call(http.MethodPost, path, u.Token, fields{"planCode": "plus", "interval": "monthly"})
	want(t, a, 402, "wallet.insufficient_points")
	if p := problemOf(t, a); p.Detail != "1 points are missing: 50 are needed and the balance is 49" {
		t.Errorf("the problem is %s, want the detail 1 points are missing: 50 are needed and the balance is 49", a.Body)
	}
	for _, c := range []struct {
		body    any
		code    string
		pointer string
	}{
		{fields{"planCode": "gold", "interval": "monthly"}, "plan.unknown", ""},
		{fields{"planCode": "free", "interval": "monthly"}, "plan.unknown", ""},
		{fields{"planCode": "guest", "interval": "yearly"}, "plan.unknown", ""},
		{fields{"planCode": "PLUS", "interval": "yearly"}, "plan.unknown", ""},
		{fields{"planCode": "pro", "interval": "yearly"}, "plan.unknown", ""},
		{fields{"planCode": "", "interval": "yearly"}, "plan.unknown", ""},
		{nil, "request.invalid", ""},
		{fields{"interval": "monthly"}, "request.invalid", ""},
		{fields{"planCode": "plus"}, "request.invalid", ""},
		{fields{"planCode": nil, "interval": "monthly"}, "request.invalid", "/planCode"},
		{fields{"planCode": 1, "interval": "monthly"}, "request.invalid", "/planCode"},
		{fields{"planCode": "plus", "interval": "weekly"}, "request.invalid", "/interval"},
		{fields{"planCode": "plus", "interval": "monthly", "price": 0}, "request.invalid", "/price"},
	} {
		a := s.Call(http.MethodPost, path, u.Token, c.body)
		want(t, a, 422, c.code)
		if p := problemOf(t, a); c.pointer != "" && (len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("POST with %v: %s, want one error, at %s", c.body, a.Body, c.pointer)
		}
	}
	want(t, s.Call(http.MethodPost, path, u.Token, make([]byte, 2000)), 413, "request.too_large")
	want(t, s.do(http.MethodPost, path, u.Token, []byte("{}"), func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }), 415, "request.media_type")
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		var params any
		if method == http.MethodPost {
			params = fields{"planCode": "plus", "interval": "monthly"}
		}
		want(t, s.Call(method, path, "", params), 401, "auth.required")
		want(t, s.Call(method, path, "xu_", params), 401, "auth.invalid_token")
		want(t, s.Call(method, path+"?x=1", u.Token, params), 422, "request.invalid")
	}
	s.stands("after all that", u, "free", 49, "")
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		s.throttled(method, path, u.Token)
	}
}

// throttled repeats a call until it exceeds its limit, which processes that share the counters may notice a little
// late.
func (s *service) throttled(method, path, token string) {
	s.t.Helper()
	for range 1000 {
		if a := s.Call(method, path, token, nil); a.Status == http.StatusTooManyRequests {
			want(s.t, a, 429, "rate.limited")
			return
		}
	}
	s.t.Errorf("%s %s was never refused, want a rate limit", method, path)
}

func TestPurchaseIsIdempotent(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	s.grant(u, 1000)
	buy := func(key string, params fields) apptest.Response {
		return s.do(http.MethodPost, "/me/subscription", u.Token, params, func(r *http.Request) { r.Header.Set("Idempotency-Key", key) })
	}
	plus := fields{"planCode": "plus", "interval": "monthly"}
	first := buy("one", plus)
	want(t, first, 201, "")
	s.Clock.Advance(time.Hour)
	for range 3 {
		again := buy("one", plus)
		want(t, again, 201, "")
		if string(again.Body) != string(first.Body) {
			t.Errorf("%s, then %s, want Body %v", first.Body, again.Body, string(first.Body))
		}
	}
	want(t, buy("one", fields{"planCode": "pro", "interval": "monthly"}), 422, "idempotency.key_reused")
	want(t, buy("one", fields{"planCode": "plus", "interval": "yearly"}), 422, "idempotency.key_reused")
	want(t, buy("a key", plus), 422, "request.invalid")
	s.stands("after", u, "plus", 950, "active")
	want(t, buy("two", plus), 201, "")
	s.stands("with another key", u, "plus", 900, "active")
}

func TestConcurrentPurchasesCannotOverspend(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	s.grant(u, 549) // enough for either purchase, of 50 and of 500, but not for both
	answers := make([]apptest.Response, 12)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			wish := fields{"planCode": "plus", "interval": []string{"monthly", "yearly"}[i%2]}
			a, err := s.TryCall(t.Context(), http.MethodPost, "/me/subscription", u.Token, wish)
			if err != nil {
				t.Error(err)
			}
			answers[i] = a
		})
	}
	all.Wait()
	bought := 0
	for _, a := range answers {
		if a.Status == 201 {
			bought++
		} else {
			want(t, a, 402, "wallet.insufficient_points")
		}
	}
	// Six are the same purchase, of which one is debited.
	entries := get[[]ledgerEntry](s, "/me/wallet/transactions", u.Token)
	if bought != 6 || len(entries) != 2 {
		t.Fatalf("of 12 POST /me/subscription at once, of two kinds, %d bought, and the ledger has %d entries; want 6 and 2", bought, len(entries))
	}
	s.stands("after", u, "plus", 549+entries[0].Amount, "active")
}

func TestAYearOfRenewals(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	s.until(time.Date(2027, 1, 31, 9, 30, 0, 0, time.UTC)) // not every month has such a day
	u := s.account("ada@example.org")
	s.grant(u, 13*50)
	s.subscribe(u, "plus", "monthly")
	left := int64(12 * 50)
	for month := time.Month(2); month <= 13; month++ {
		end := s.standing(u).Subscription.CurrentPeriodEnd
		if last := time.Date(2027, month+1, 0, 9, 30, 0, 0, time.UTC); !end.Equal(last) {
			t.Fatalf("a period ends %s, want %s", end, last)
		}
		u = s.again(u)
		s.until(end.Add(-time.Millisecond))
		s.stands("before the end", u, "plus", left, "active")
		s.until(end)
		left -= 50
		s.settled(u, left, "active")
		s.stands("renewed", u, "plus", left, "active")
	}
	u = s.again(u)
	s.until(s.standing(u).Subscription.CurrentPeriodEnd)
	s.settled(u, 0, "expired")
	s.stands("the points are spent", u, "free", 0, "expired")
	if entries := get[[]ledgerEntry](s, "/me/wallet/transactions", u.Token); len(entries) != 14 {
		t.Errorf("%d lines in the ledger, want 14", len(entries))
	}
}

// again signs a user in again two days later: a token lives for 30 days, and some periods are longer.
func (s *service) again(u user) user {
	s.t.Helper()
	s.Clock.Advance(48 * time.Hour)
	_, u.Token = s.signIn(u.Account.Email, userPassword, "")
	return u
}

func TestAutoRenewalCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	end := func() (got standing) {
		s.call(http.MethodDelete, "/me/subscription", u.Token, 200, "").Into(t, &got)
		return got
	}
	if got := end(); got.Subscription != nil || got.Plan != "free" {
		t.Errorf("DELETE without a subscription = %+v, want none, and the plan free", got)
	}
	s.grant(u, 1000)
	bought := s.subscribe(u, "plus", "monthly").Subscription
	for range 2 {
		got := end()
		if got.Subscription.AutoRenew || got.Subscription.Status != "active" || !got.Subscription.CurrentPeriodEnd.Equal(bought.CurrentPeriodEnd) || got.Plan != "plus" {
			t.Errorf("DELETE = %+v, want it active until %v, not renewing, with the plan plus", got.Subscription, bought.CurrentPeriodEnd)
		}
	}
	u = s.again(u)
	s.until(bought.CurrentPeriodEnd.Add(-time.Millisecond))
	s.stands("before the end", u, "plus", 950, "active")
	s.until(bought.CurrentPeriodEnd)
	s.stands("at the end, whether it was noted or not", u, "free", 950, "expired")
	s.settled(u, 950, "expired")
	s.stands("after", u, "free", 950, "expired")
	if got := end(); got.Subscription.ID != bought.ID || got.Subscription.Status != "expired" {
		t.Errorf("DELETE after the end = %+v, want %s expired", got.Subscription, bought.ID)
	}
	if got := s.subscribe(u, "plus", "yearly").Subscription; got.ID == bought.ID || got.Price != 500 || !got.AutoRenew || !got.CurrentPeriodEnd.Equal(s.Clock.Now().AddDate(1, 0, 0)) {
		t.Errorf("POST after the end = %+v, want another subscription than %s, for 500 points, until %v, renewing", got, bought.ID, s.Clock.Now().AddDate(1, 0, 0))
	}
}

// A double click on "buy" debits once, whichever processes the calls reach.
func TestPurchasesAtOnceDebitOnce(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	s.grant(u, 500)
	const calls = 6
	answers := make([]apptest.Response, calls)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			answers[i] = s.Call(http.MethodPost, "/me/subscription", u.Token, fields{"planCode": "plus", "interval": "monthly"})
		})
	}
	all.Wait()
	ids := make(map[string]bool)
	for _, a := range answers {
		want(t, a, 201, "")
		var bought struct{ Subscription struct{ ID string } }
		a.Into(t, &bought)
		ids[bought.Subscription.ID] = true
	}
	if balance := get[struct{ Balance int64 }](s, "/me/wallet", u.Token).Balance; len(ids) != 1 || balance != 450 {
		t.Errorf("%d POST /me/subscription at once: %d subscriptions, %d points left, want one and 450", calls, len(ids), balance)
	}
}
