package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

const (
	callbackPath = "/integrations/bankpay/webhook"
	bankSecret   = "a secret of the bench"
	bankAccount  = "0011001932418"
	fundings     = 20         // orders that fill each account
	funding      = 50_000_000 // VND, the most that an order may be over
)

// bankSettings have a bank that calls from this machine.
func bankSettings() map[string]string {
	return map[string]string{
		"billing.bankpay.apikey": bankSecret, "billing.bankpay.allow_networks": "127.0.0.0/8",
		"billing.bankpay.bank_bin": "970436", "billing.bankpay.account_number": bankAccount,
		"billing.open_orders": "1000000",
	}
}

// moneyPart measures what happens between a bank's callback and a plan: callbacks beside a bare transaction each, top-ups from
// the order to the credit, and purchases.
func moneyPart(ctx context.Context, b *bench) error {
	rounds, length, topups := 6, time.Second, 4000
	if b.quick {
		rounds, length, topups = 3, 500*time.Millisecond, 1000
	}
	g, err := b.startGonebox(ctx, b.dataDir())
	if err != nil {
		return err
	}
	defer g.stop()
	dir := b.dataDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	bare, addr, err := startSelf(ctx, "bare-ledger", dir)
	if err != nil {
		return err
	}
	defer bare.stop()
	m := &money{service: g, tokens: make([]string, callers)}
	if err := m.fund(ctx); err != nil {
		return err
	}
	b.report.note("money: %d accounts have points", len(m.tokens))
	ours, theirs, plans := flow{name: "callback, gonebox"}, flow{name: "callback, a bare transaction each"}, flow{name: "POST /me/subscription"}
	for round := range rounds + 1 {
		b.report.note("money: round %d of %d", round, rounds)
		err := errors.Join(
			ours.slice(ctx, g.process, g.web, length, round > 0, m.callback),
			theirs.slice(ctx, bare, addr, length, round > 0, m.callback),
			plans.slice(ctx, g.process, g.web, length, round > 0, m.purchase),
		)
		if err != nil {
			return err
		}
	}
	credits, err := m.topups(ctx, topups)
	if err != nil {
		return err
	}
	b.report.money(ours, theirs, plans, credits, rounds, length)
	return nil
}

// money makes requests.
type money struct {
	service *gonebox
	tokens  []string     // of funded accounts
	number  atomic.Int64 // of the bank's transactions, and of the purchases
}

// flow is a kind of request that is measured.
type flow struct {
	name      string
	rate, cpu series
}

// slice makes requests from all clients for a while. do makes one and fails unless it went well.
func (f *flow) slice(ctx context.Context, p *process, addr string, length time.Duration, counts bool, do func(c *caller, worker int) error) error {
	gauge, err := startGauge(p)
	if err != nil {
		return err
	}
	var made atomic.Int64
	begun := time.Now()
	err = together(ctx, callers, addr, func(c *caller, worker, _ int) error {
		for ctx.Err() == nil && time.Since(begun) < length {
			if err := do(c, worker); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			made.Add(1)
		}
		return ctx.Err()
	})
	elapsed := time.Since(begun)
	used, fault := gauge.read()
	if err := errors.Join(err, fault); err != nil || !counts {
		return err
	}
	f.rate = append(f.rate, float64(made.Load())/elapsed.Seconds())
	f.cpu = append(f.cpu, used.server.Seconds()*1000/float64(made.Load()))
	return nil
}

// tell has the bank tell of a transfer.
func (m *money) tell(c *caller, content string, amount int64) error {
	body := fmt.Sprintf(`{"id":%d,"gateway":"Vietcombank","transactionDate":"2026-03-14 19:02:37","accountNumber":%q,"code":null,"content":%q,`+
		`"transferType":"in","transferAmount":%d,"accumulated":19077000,"subAccount":null,"referenceCode":"MBVCB.3278907687","description":""}`,
		m.number.Add(1), bankAccount, content, amount)
	r := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Apikey %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		base+callbackPath, bankSecret, len(body), body)
	status, err := c.do(r)
	if err == nil && (status != 200 || !bytes.HasPrefix(c.body, []byte(`{"success":true}`))) {
		err = fmt.Errorf("status %d: %s", status, c.body)
	}
	return err
}

// callback tells of a transfer that no order is for.
func (m *money) callback(c *caller, _ int) error {
	return m.tell(c, "MBVCB.3278907687.chuyen tien.CT tu 0123499999 NGUYEN VAN A", 2_277_000)
}

// purchase buys a plan with an idempotency key of its own.
func (m *money) purchase(c *caller, worker int) error {
	const body = `{"planCode":"plus","interval":"monthly"}`
	r := fmt.Appendf(nil, "POST %s/me/subscription HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nIdempotency-Key: purchase-%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		base, m.tokens[worker], m.number.Add(1), len(body), body)
	status, err := c.do(r)
	if err == nil && status != 201 {
		err = fmt.Errorf("status %d: %s", status, c.body)
	}
	return err
}

// order orders a top-up and gives its memo.
func (m *money) order(c *caller, worker int, amount int64) (memo string, err error) {
	var answer struct{ Data struct{ Memo string } }
	err = c.call(201, "POST", "/me/wallet/topups", m.tokens[worker], fmt.Sprintf(`{"provider":"bankpay","amount":%d,"currency":"VND"}`, amount), &answer)
	return answer.Data.Memo, err
}

func (m *money) balance(c *caller, worker int) (int64, error) {
	var answer struct{ Data struct{ Balance int64 } }
	err := c.call(200, "GET", "/me/wallet", m.tokens[worker], "", &answer)
	return answer.Data.Balance, err
}

// fund registers the accounts and fills them.
func (m *money) fund(ctx context.Context) error {
	return together(ctx, callers, m.service.web, func(c *caller, worker, _ int) error {
		wish, err := json.Marshal(map[string]string{"email": accountName(worker), "password": signInPassword})
		if err != nil {
			return err
		}
		var account struct{ Data struct{ Token string } }
		if err := c.call(201, "POST", "/auth/register", "", string(wish), &account); err != nil {
			return err
		}
		m.tokens[worker] = account.Data.Token
		for range fundings {
			memo, err := m.order(c, worker, funding)
			if err != nil {
				return err
			}
			if err := m.tell(c, memo, funding); err != nil {
				return err
			}
		}
		return m.credited(ctx, c, worker, fundings*funding/1000)
	})
}

// credited waits until an account has so many points.
func (m *money) credited(ctx context.Context, c *caller, worker int, points int64) error {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		have, err := m.balance(c, worker)
		switch {
		case err != nil || have == points:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(begun) > patience:
			return fmt.Errorf("an account has %d points, it should have %d", have, points)
		}
	}
}

// credits is what a run of top-ups came to.
type credits struct {
	orders, told, done float64 // a second: orders made; callbacks heard; and credited, from the first callback on
	n                  int
}

// topups makes orders, then has all of them paid, and waits until the last is credited.
func (m *money) topups(ctx context.Context, n int) (credits, error) {
	const amount = 10_000
	memos, before := make([]string, n), make([]int64, callers)
	begun := time.Now()
	err := together(ctx, callers, m.service.web, func(c *caller, worker, workers int) (err error) {
		for i := worker; i < n; i += workers {
			if memos[i], err = m.order(c, worker, amount); err != nil {
				return err
			}
		}
		before[worker], err = m.balance(c, worker)
		return err
	})
	if err != nil {
		return credits{}, err
	}
	r := credits{n: n, orders: float64(n) / time.Since(begun).Seconds()}
	begun = time.Now()
	told := make([]time.Duration, callers)
	err = together(ctx, callers, m.service.web, func(c *caller, worker, workers int) error {
		points := before[worker]
		for i := worker; i < n; i += workers {
			if err := m.tell(c, memos[i], amount); err != nil {
				return err
			}
			points += amount / 1000
		}
		told[worker] = time.Since(begun)
		return m.credited(ctx, c, worker, points)
	})
	r.done, r.told = float64(n)/time.Since(begun).Seconds(), float64(n)/slices.Max(told).Seconds()
	return r, err
}

func (r *report) money(ours, theirs, plans flow, c credits, rounds int, length time.Duration) {
	r.say("\nMONEY: %d clients with a connection each, %d rounds of %s a call", callers, rounds, length)
	rows := [][]string{{"call", "a second", "server's CPU seconds per 1,000"}}
	for _, f := range []flow{ours, theirs, plans} {
		rows = append(rows, []string{f.name, f.rate.spread("%.0f"), f.cpu.spread("%.3f")})
	}
	r.table(rows)
	r.say("  Callbacks of gonebox over bare ones: %s. Gonebox reconciles each at the same time.", ours.rate.over(theirs.rate).spread("%.2f"))
	r.say("  %d top-ups: %.0f orders a second; then %.0f callbacks a second, and %.0f credits a second from the first callback to the last credit.", c.n, c.orders, c.told, c.done)
}
