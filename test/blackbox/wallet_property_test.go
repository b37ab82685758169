package blackbox_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// payment is a transfer for an order, in one of the ways that people and banks make them.
type payment struct {
	order  *placed
	how    string
	number int // the bank's
}

// placed is an order that was made, and what should become of it.
type placed struct {
	topup
	owner    int
	late     bool // too old to be credited
	expected bool // it is to be paid
}

// The ways to pay, and whether they pay the order.
var ways = map[string]bool{
	"exactly": true, "by another hand": true, "told twice": true, "short": false, "over": false, "garbled": false, "with another's memo": false,
	"to another account": false, "outgoing": false, "without a memo": false,
}

// body is the bank's callback for a payment; other is a different order.
func (p payment) body(other *placed) fields {
	b := transfer(p.number, p.order.Amount, "MBVCB.77."+p.order.Memo+".CT tu 0123 toi GONEBOX")
	memo := p.order.Memo
	switch p.how {
	case "by another hand":
		b["content"] = "gui  " + strings.ToLower(memo[:2]+" "+memo[2:6]+"-"+memo[6:]) + "!"
		b["transferAmount"] = fmt.Sprint(p.order.Amount)
	case "short":
		b["transferAmount"] = p.order.Amount - 1
	case "over":
		b["transferAmount"] = p.order.Amount + 1000
	case "garbled":
		b["content"] = memo[:9] + "0"
	case "with another's memo":
		b["content"] = memo + " " + other.Memo
	case "to another account":
		b["accountNumber"] = "4711"
	case "outgoing":
		b["transferType"] = "out"
	case "without a memo":
		b["content"] = "tien nha"
	}
	return b
}

// bazaar is a number of accounts whose orders are paid concurrently while they buy plans.
type bazaar struct {
	*service
	db     *sql.DB
	users  []user
	orders []*placed

	mu     sync.Mutex
	bought map[string]int    // subscriptions that were answered 201, and whose they are
	keys   map[string]string // what each key of each account bought
}

// However orders are paid and plans bought concurrently, in any order and repeatedly, each order that was paid
// correctly is credited once and no other; each ledger is a chain whose sum is the balance; and no balance is negative.
func TestMoneyAddsUpUnderConcurrency(t *testing.T) {
	t.Parallel()
	s := startBank(t, settings{"plans.plus.price.monthly": "15"})
	db := s.Database()
	var accounts, numbers int
	rapid.Check(t, func(rt *rapid.T) {
		b := &bazaar{service: s, db: db, bought: make(map[string]int), keys: make(map[string]string)}
		for range 2 {
			accounts++
			b.users = append(b.users, s.account(fmt.Sprintf("buyer-%d@example.org", accounts)))
		}
		// The first orders are too old in the end and the second ones have expired; what is bought first is renewed
		// meanwhile.
		b.place(rt, true)
		for _, u := range b.users {
			s.fund(u, 40)
		}
		b.buy(0, "first")
		s.Clock.Advance(20 * 24 * time.Hour)
		b.place(rt, false)
		s.Clock.Advance(11 * 24 * time.Hour)
		b.place(rt, false)
		b.rush(rt, &numbers)
		b.check(rt)
	})
}

// place makes orders.
func (b *bazaar) place(rt *rapid.T, late bool) {
	for i, u := range b.users {
		for range rapid.IntRange(1, 2).Draw(rt, "orders") {
			amount := rapid.Int64Range(10, 40).Draw(rt, "points") * 1000
			b.orders = append(b.orders, &placed{topup: b.topup(u, amount), owner: i, late: late})
		}
	}
}

// rush does everything concurrently.
func (b *bazaar) rush(rt *rapid.T, numbers *int) {
	var all []payment
	names := rapid.SampledFrom(slices.Sorted(maps.Keys(ways)))
	for _, o := range b.orders {
		for _, how := range rapid.SliceOfN(names, 0, 2).Draw(rt, "payments") {
			*numbers++
			p := payment{o, how, *numbers}
			all = append(all, p)
			if how == "told twice" {
				all = append(all, p, p)
			}
			o.expected = o.expected || ways[how] && !o.late
		}
	}
	all = rapid.Permutation(all).Draw(rt, "arrival")
	purchases := rapid.SliceOfN(rapid.IntRange(0, len(b.users)-1), 0, 4).Draw(rt, "purchases")
	var done sync.WaitGroup
	for i, p := range all {
		other := b.orders[0]
		if other == p.order {
			other = b.orders[1]
		}
		done.Go(func() { b.tell(i, p.body(other)) })
	}
	for i, who := range purchases {
		key := fmt.Sprintf("purchase-%d", i)
		done.Go(func() { b.buy(who, key) })
		done.Go(func() { b.buy(who, key) }) // impatient clients
	}
	done.Wait()
	eventually(b.t, "the reconciliation", func() bool { return b.open() == 0 })
}

// tell makes the bank's callback.
func (b *bazaar) tell(i int, body fields) {
	r, err := b.Request(b.t.Context(), http.MethodPost, callback, "", body)
	if err != nil {
		b.t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Apikey "+bankSecret)
	if a, err := b.Do(r); err != nil || a.Status != http.StatusOK {
		b.t.Errorf("callback %d: %d %s, %v, want Status %v", i, a.Status, a.Body, err, http.StatusOK)
	}
}

// buy buys a month of plus if there are enough points.
func (b *bazaar) buy(who int, key string) {
	r, err := b.Request(b.t.Context(), http.MethodPost, "/me/subscription", b.users[who].Token, fields{"planCode": "plus", "interval": "monthly"})
	if err != nil {
		b.t.Error(err)
		return
	}
	r.Header.Set("Idempotency-Key", key)
	switch a, err := b.Do(r); {
	case err != nil || a.Status != http.StatusCreated && a.Code() != "wallet.insufficient_points":
		b.t.Errorf("purchase with the key %s: %d %s, %v, want it made or too few points", key, a.Status, a.Body, err)
	case a.Status == http.StatusCreated:
		var made struct{ Subscription struct{ ID string } }
		a.Into(b.t, &made)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.bought[made.Subscription.ID] = who
		whose := fmt.Sprint(who, key)
		if first := cmp.Or(b.keys[whose], made.Subscription.ID); first != made.Subscription.ID {
			b.t.Errorf("the key %s bought %s and %s, want one purchase", key, first, made.Subscription.ID)
		}
		b.keys[whose] = made.Subscription.ID
	}
}

// open is the number of transfers that staff have not settled.
func (b *bazaar) open() (n int) {
	if err := b.db.QueryRow("SELECT count(*) FROM bankpay_match WHERE outcome = 'new'").Scan(&n); err != nil {
		b.t.Error(err)
		return 0
	}
	return n
}

func (b *bazaar) check(rt *rapid.T) {
	credits := make(map[string]int64) // by order
	for i, u := range b.users {
		b.checkDebits(rt, i, b.checkLedger(rt, u, credits))
	}
	for _, o := range b.orders {
		now := get[topup](b.service, "/me/wallet/topups/"+o.ID, b.users[o.owner].Token)
		if paid := now.Status == "paid"; paid != o.expected || paid != (now.PaidAt != nil) || paid != (credits[o.ID] == o.Points) || !paid && credits[o.ID] != 0 {
			rt.Errorf("order %s over %d points is %s and credited %d, want it paid and credited: %t", o.ID, o.Points, now.Status, credits[o.ID], o.expected)
		}
	}
}

// checkDebits compares an account's debits with the purchases it was answered: each once, and the first once more for
// its second month if there were points for it.
func (b *bazaar) checkDebits(rt *rapid.T, who int, debits map[string]int) {
	for subscription, n := range debits {
		if owner, ok := b.bought[subscription]; !ok || owner != who || n > 2 {
			rt.Errorf("%s was debited %d times, want at most twice, and of its owner %v", subscription, n, who)
		}
	}
	for subscription, owner := range b.bought {
		if owner == who && debits[subscription] == 0 {
			rt.Errorf("%s was not debited, want one debit", subscription)
		}
	}
}

// ledger reads the chain and the balance at one moment: the first purchase may be renewed at any time.
func (b *bazaar) ledger(u user) (entries []ledgerEntry, balance int64) {
	read := func() []ledgerEntry {
		return get[[]ledgerEntry](b.service, "/me/wallet/transactions?limit=100", u.Token)
	}
	entries = read()
	eventually(b.t, "a ledger that stands still", func() bool {
		before := len(entries)
		balance, entries = b.points(u), read()
		return len(entries) == before
	})
	return entries, balance
}

// checkLedger checks one account's chain, sums the credits by order, and counts the debits by subscription.
func (b *bazaar) checkLedger(rt *rapid.T, u user, credits map[string]int64) (debits map[string]int) {
	debits = make(map[string]int)
	ledger, balance := b.ledger(u)
	var sum int64
	for i := len(ledger) - 1; i >= 0; i-- {
		e := ledger[i]
		if sum += e.Amount; e.BalanceAfter != sum || sum < 0 {
			rt.Errorf("the entry is %+v, want the balance %d of the sum, which is never negative", e, sum)
		}
		switch e.Kind {
		case "topup":
			credits[text(e.Reference)] += e.Amount
		case "subscription":
			if debits[text(e.Reference)]++; e.Amount != -15 {
				rt.Errorf("entry of the subscription = %+v, want an amount of -15, once", e)
			}
		}
	}
	if balance != sum {
		rt.Errorf("the balance is %d, want the sum %d of the entries", balance, sum)
	}
	return debits
}
