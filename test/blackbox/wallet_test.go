package blackbox_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// walletShown is a wallet as a client reads it.
type walletShown struct {
	Balance       int64
	Currency      string
	PendingTopups int
}

// ledgerEntry is a line of the ledger as a client reads it.
type ledgerEntry struct {
	ID, Kind             string
	Amount, BalanceAfter int64
	Reference, Note      *string
	Plan, Interval       *string
	Transfer             *string
	CreatedAt            time.Time
}

// provider is a payment provider as a client reads it.
type provider struct {
	Code, Name, Status               string
	Currencies                       []string
	MinAmount, MaxAmount, PointPrice int64
}

// points is an account's balance.
func (s *service) points(u user) int64 {
	s.t.Helper()
	return get[walletShown](s, "/me/wallet", u.Token).Balance
}

// fund gives an account points, as a payment would.
func (s *service) fund(u user, points int64) {
	s.t.Helper()
	before := s.points(u)
	o := s.topup(u, points*1000)
	want(s.t, s.bank(fields{"id": "fund-" + o.ID, "content": o.Memo, "transferType": "in", "transferAmount": o.Amount}), 200, "")
	eventually(s.t, "the credit", func() bool { return s.points(u) == before+points })
}

func TestProvidersMirrorConfiguration(t *testing.T) {
	t.Parallel()
	named := func(code, name, status string) provider {
		return provider{code, name, status, []string{"VND"}, 10_000, 50_000_000, 1000}
	}
	incomplete := bankSettings()
	delete(incomplete, "billing.bankpay.apikey")
	delete(incomplete, "billing.bankpay.allow_networks")
	for name, c := range map[string]struct {
		set  settings
		want []provider
	}{
		"configured":     {bankSettings(), []provider{named("bankpay", "Bank transfer", "active"), named("bnb", "BNB", "coming_soon")}},
		"as it comes":    {nil, []provider{named("bankpay", "Bank transfer", "disabled"), named("bnb", "BNB", "coming_soon")}},
		"no callback":    {incomplete, []provider{named("bankpay", "Bank transfer", "disabled"), named("bnb", "BNB", "coming_soon")}},
		"switched off":   {settings{"billing.providers.bankpay": "disabled", "billing.providers.bnb": "disabled"}, []provider{named("bankpay", "Bank transfer", "disabled"), named("bnb", "BNB", "disabled")}},
		"not opened yet": {settings{"billing.providers.bankpay": "coming_soon"}, []provider{named("bankpay", "Bank transfer", "coming_soon"), named("bnb", "BNB", "coming_soon")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := startAccounts(t, c.set)
			if diff := cmp.Diff(c.want, get[[]provider](s, "/payment-providers", "")); diff != "" {
				t.Errorf("GET /payment-providers (-want +got):\n%s", diff)
			}
			status, code := 400, "payment.provider_unavailable"
			if c.want[0].Status == "active" {
				status, code = 201, ""
			}
			u := s.account("ada@example.org")
			want(t, s.Call(http.MethodPost, "/me/wallet/topups", u.Token, topupBody(10_000)), status, code)
		})
	}
}

func TestNewAccountHasEmptyWallet(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	if w := get[walletShown](s, "/me/wallet", u.Token); w != (walletShown{0, "POINT", 0}) {
		t.Errorf("GET /me/wallet = %+v, want %+v", w, walletShown{0, "POINT", 0})
	}
	a := s.call(http.MethodGet, "/me/wallet/transactions", u.Token, 200, "")
	if got := strings.TrimSpace(string(a.Body)); got != `{"data":[],"nextCursor":null}` {
		t.Errorf("GET /me/wallet/transactions = %s, want an empty page", got)
	}
}

func TestLedgerIsPaged(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	s.fund(eve, 999)
	for points := range int64(5) {
		s.fund(u, 10+points)
		s.Clock.Advance(time.Second)
	}
	var amounts, balances []int64
	for e := range pages[ledgerEntry](s, "/me/wallet/transactions?limit=2", u.Token) {
		if amounts = append(amounts, e.Amount); len(amounts) == 2 {
			s.fund(u, 100) // an entry added between two pages is in neither
		}
		balances = append(balances, e.BalanceAfter)
	}
	if !slices.Equal(amounts, []int64{14, 13, 12, 11, 10}) || !slices.Equal(balances, []int64{60, 46, 33, 21, 10}) {
		t.Errorf("balances = %v %v, want %v and %v", amounts, balances, []int64{14, 13, 12, 11, 10}, []int64{60, 46, 33, 21, 10})
	}
	for _, query := range []string{"limit=0", "limit=101", "limit=x", "cursor=MA", "cursor=LTE", "cursor=bWJ4XzA", "cursor=%C3%A9", "x=1"} {
		s.call(http.MethodGet, "/me/wallet/transactions?"+query, u.Token, 422, "request.invalid")
	}
}

func TestBodiesQueriesAndLimitsOfTheWallet(t *testing.T) {
	t.Parallel()
	set := bankSettings()
	set["http.body_max"], set["limits.other"] = "1KiB", "40/1m"
	s := startAccounts(t, set)
	u := s.account("ada@example.org")
	o := s.topup(u, 10_000)
	k := s.create(u.Token, nil)
	for _, call := range answersOf("/payment-providers", "/me/wallet") {
		words := strings.Fields(call)
		method, path := words[0], strings.Replace(words[1], "{orderId}", o.ID, 1)
		switch {
		case words[2] == "413":
			want(t, s.Call(method, path, u.Token, append([]byte(`{"provider":"`), make([]byte, 2000)...)), 413, "request.too_large")
		case words[2] == "415":
			a := s.do(method, path, u.Token, fields{}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			want(t, a, 415, "request.media_type")
		case words[2] == "422" && words[3] == "request.invalid":
			s.call(method, path+"?no=1", u.Token, 422, "request.invalid")
		case words[2] == "401" && words[3] == "auth.required":
			s.call(method, path, "", 401, "auth.required")
			for _, wrong := range []string{k.Token, "xu_", mistyped(u.Token)} {
				s.call(method, path, wrong, 401, "auth.invalid_token")
			}
		}
	}
	for range 40 {
		s.Call(http.MethodGet, "/me/wallet", u.Token, nil)
		s.Call(http.MethodGet, "/payment-providers", "", nil)
	}
	for _, call := range operationsOf("/payment-providers", "/me/wallet") {
		words := strings.Fields(call)
		token := u.Token
		if words[1] == "/payment-providers" {
			token = ""
		}
		s.call(words[0], strings.Replace(words[1], "{orderId}", o.ID, 1), token, 429, "rate.limited")
	}
}
