package system_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	payers       = 8
	moneyCrashes = 6
	bankSecret   = "a secret of the bank"
	planPrice    = 15
)

// TestMoneySurvivesCrashes repeatedly kills the service while accounts order top-ups, a bank reports transfers and
// plans are bought. Every call is retried until it is answered, as clients with an Idempotency-Key and the bank do. In
// the end each order that was paid correctly is credited once and no other, each purchase is debited once, and each
// ledger adds up.
func TestMoneySurvivesCrashes(t *testing.T) {
	t.Parallel()
	m := &market{seed: *seed}
	if m.seed == 0 {
		m.seed = uint64(rand.Uint32())
	}
	t.Logf("go test ./test/system -run TestMoneySurvivesCrashes -seed %d", m.seed)
	s := start(t, options{set: paidSettings()})
	m.url = s.url
	for i := range payers {
		m.payers = append(m.payers, &payer{market: m, n: i, token: s.register(fmt.Sprintf("payer-%d@example.org", i)), bought: make(map[string]bool)})
	}
	m.torment(t, s)
	integrity(t, s.dir)
	await(t, "the reconciliation", func() bool { return s.unseen() == 0 })
	m.verify(t, s)
	s.stop()
	integrity(t, s.dir)
}

// register makes an account and returns its token.
func (s *service) register(email string) string {
	s.t.Helper()
	status, text := s.call(http.MethodPost, "/auth/register", "", map[string]string{"email": email, "password": userPassword})
	if status != http.StatusCreated {
		s.t.Fatalf("register: %d %s, want %v", status, text, http.StatusCreated)
	}
	return decode[struct{ Token string }](s.t, text).Token
}

// unseen is the number of unmatched transfers, as an operator's command shows it.
func (s *service) unseen() (n int) {
	s.t.Helper()
	for after := ""; ; {
		args := []string{"payment", "list", "--json", "--limit", "1000", "--data-dir", s.dir}
		for _, key := range []string{"database.url", "secrets.key"} {
			if value, has := s.o.set[key]; has {
				args = append(args, "--set", key+"="+value)
			}
		}
		if after != "" {
			args = append(args, "--after", after)
		}
		code, out, text := command(s.t, args...)
		if code != 0 {
			s.t.Fatalf("payment list: %s, want 0", text)
		}
		var rows []struct{ ID, Outcome string }
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			s.t.Fatal(err)
		}
		for _, r := range rows {
			if after = r.ID; r.Outcome == "new" {
				n++
			}
		}
		if len(rows) < 1000 {
			return n
		}
	}
}

// market is a number of payers who continue through crashes of the service.
type market struct {
	url    string
	seed   uint64
	payers []*payer

	mu      sync.Mutex
	done    int // calls that were answered
	strange []string
}

// torment kills the service while all payers are busy, and lets them finish on a running service.
func (m *market) torment(t *testing.T, s *service) {
	ctx, stop := context.WithCancel(t.Context())
	closing := make(chan struct{})
	var busy sync.WaitGroup
	defer busy.Wait()
	defer stop()
	for _, p := range m.payers {
		busy.Go(func() { p.run(ctx, closing) })
	}
	rng := rand.New(rand.NewPCG(m.seed, payers))
	for range moneyCrashes {
		enough := m.answered() + 30 + rng.IntN(120)
		await(t, "calls being answered", func() bool { return m.answered() >= enough })
		<-time.After(time.Duration(rng.IntN(15_000)) * time.Microsecond)
		s.kill()
		s.restart()
		if s.url != m.url {
			t.Fatalf("the service is at %s after the crash, want %s again: another program took the port", s.url, m.url)
		}
	}
	close(closing)
	ended := make(chan struct{})
	go func() { busy.Wait(); close(ended) }()
	await(t, "the payers' end", func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
}

func (m *market) answered() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done
}

// payer orders, pays and buys, one step after the other.
type payer struct {
	*market
	n      int
	token  string
	orders []*paidOrder
	bought map[string]bool // subscriptions that it was told it has
}

// paidOrder is an order and whether it was paid correctly.
type paidOrder struct {
	ID, Memo       string
	Amount, Points int64
	rightly        bool
}

var errStopped = errors.New("stopped")

func (p *payer) run(ctx context.Context, closing <-chan struct{}) {
	rng := rand.New(rand.NewPCG(p.seed, uint64(p.n)))
	for serial := 0; ; serial++ {
		select {
		case <-closing:
			return
		case <-ctx.Done():
			return
		default:
		}
		if err := p.round(ctx, rng, serial); err != nil {
			if !errors.Is(err, errStopped) {
				p.note(err.Error())
			}
			return
		}
	}
}

func (m *market) note(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strange = append(m.strange, text)
}

// round makes an order, reports one or two transfers for it, and sometimes buys a plan.
func (p *payer) round(ctx context.Context, rng *rand.Rand, serial int) error {
	o := new(paidOrder)
	wish := map[string]any{"provider": "bankpay", "amount": 1000 * (10 + rng.Int64N(20)), "currency": "VND"}
	if err := p.insist(ctx, "/me/wallet/topups", p.token, fmt.Sprintf("order-%d", serial), wish, http.StatusCreated, o); err != nil {
		return err
	}
	p.orders = append(p.orders, o)
	for transfer := range 1 + rng.IntN(2) {
		amount, content := o.Amount, "MBVCB.1."+strings.ToLower(o.Memo)+".CT"
		switch rng.IntN(6) {
		case 0:
			amount++
		case 1:
			content = o.Memo[:9]
		default:
			o.rightly = true
		}
		body := map[string]any{
			"id": (serial*10+transfer)*payers + p.n, "transferType": "in", "transferAmount": amount, "content": content, "accountNumber": "0011001932418",
		}
		for range 1 + rng.IntN(2) { // told again, also when it was heard
			if err := p.insist(ctx, "/integrations/bankpay/webhook", "", "", body, http.StatusOK, nil); err != nil {
				return err
			}
		}
	}
	if rng.IntN(2) == 0 {
		var made struct{ Subscription struct{ ID string } }
		err := p.insist(ctx, "/me/subscription", p.token, fmt.Sprintf("plan-%d", serial), map[string]string{"planCode": "plus", "interval": "monthly"}, http.StatusCreated, &made)
		if err != nil {
			return err
		}
		if made.Subscription.ID != "" {
			p.bought[made.Subscription.ID] = true
		}
	}
	return nil
}

// insist repeats a call until it is answered. 402 for too few points is an answer as well.
func (p *payer) insist(ctx context.Context, path, token, key string, body any, status int, data any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for {
		got, answer, err := p.try(ctx, path, token, key, text)
		switch {
		case ctx.Err() != nil:
			return errStopped
		case err != nil || got == http.StatusServiceUnavailable: // it is down, or going down
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				return errStopped
			}
			continue
		case got == http.StatusPaymentRequired:
			return nil
		case got != status:
			return fmt.Errorf("%s: %d %s", path, got, answer)
		}
		p.mu.Lock()
		p.done++
		p.mu.Unlock()
		if data == nil {
			return nil
		}
		return json.Unmarshal(answer, &struct{ Data any }{data})
	}
}

func (p *payer) try(ctx context.Context, path, token, key string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Apikey "+bankSecret)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// verify compares what each account shows with what it was answered.
func (m *market) verify(t *testing.T, s *service) {
	for _, text := range m.strange {
		t.Errorf("a client got %s, want a response that a crash explains", text)
	}
	orders, rightly, bought := 0, 0, 0
	for _, p := range m.payers {
		credits, debits := p.ledger(t, s)
		pending := 0
		for _, o := range p.orders {
			status := decode[struct{ Status string }](t, s.get("/me/wallet/topups/"+o.ID, p.token)).Status
			if o.rightly && (status != "paid" || credits[o.ID] != o.Points) || !o.rightly && (status != "pending" || credits[o.ID] != 0) {
				t.Errorf("order %s over %d points is %s and credited %d, want it paid and credited: %t", o.ID, o.Points, status, credits[o.ID], o.rightly)
			}
			orders++
			if o.rightly {
				rightly++
			} else {
				pending++
			}
			delete(credits, o.ID)
		}
		if len(credits) > 0 {
			t.Errorf("payer %d was credited %v, want nothing but orders", p.n, credits)
		}
		w := decode[struct{ PendingTopups int }](t, s.get("/me/wallet", p.token))
		if w.PendingTopups != pending {
			t.Errorf("payer %d has %d open orders, want the %d that were answered", p.n, w.PendingTopups, pending)
		}
		if got := slices.Sorted(maps.Keys(debits)); !slices.Equal(got, slices.Sorted(maps.Keys(p.bought))) {
			t.Errorf("payer %d was debited for %v and bought %v, want %v", p.n, got, p.bought, slices.Sorted(maps.Keys(p.bought)))
		}
		bought += len(p.bought)
	}
	t.Logf("%d orders, %d of them paid rightly, %d purchases, %d calls answered", orders, rightly, bought, m.done)
	if rightly == 0 || bought == 0 || rightly == orders {
		t.Errorf("of %d orders %d were paid rightly and %d plans were bought, want some of each, and an order that was not paid", orders, rightly, bought)
	}
}

// ledger checks that an account's ledger is a chain whose sum is the balance, and returns its credits and debits by
// reference.
func (p *payer) ledger(t *testing.T, s *service) (credits, debits map[string]int64) {
	type entry struct {
		Kind, Reference      string
		Amount, BalanceAfter int64
	}
	var all []entry
	for cursor := ""; ; {
		var page struct {
			Data       []entry
			NextCursor *string
		}
		if err := json.Unmarshal(s.get("/me/wallet/transactions?limit=100&cursor="+url.QueryEscape(cursor), p.token), &page); err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Data...)
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	credits, debits = make(map[string]int64), make(map[string]int64)
	var sum int64
	for _, e := range slices.Backward(all) {
		if sum += e.Amount; e.BalanceAfter != sum || sum < 0 {
			t.Errorf("payer %d: the entry is %+v, want the balance %d of the sum, which is never negative", p.n, e, sum)
		}
		side := credits
		if e.Kind == "subscription" {
			side = debits
			if e.Amount != -planPrice || debits[e.Reference] != 0 {
				t.Errorf("payer %d: the entry is %+v, want %d points for a plan, once", p.n, e, -planPrice)
			}
		}
		side[e.Reference] += e.Amount
	}
	w := decode[struct{ Balance int64 }](t, s.get("/me/wallet", p.token))
	if w.Balance != sum {
		t.Errorf("payer %d: the balance is %d, want the sum %d of the entries", p.n, w.Balance, sum)
	}
	return credits, debits
}
