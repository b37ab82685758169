package blackbox_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// topup is a top-up order as a client reads it.
type topup struct {
	ID, Provider, Currency, Status, Memo, QR string
	Amount, Points                           int64
	Bank                                     struct{ BIN, Name, AccountNumber, AccountName string }
	CreatedAt, ExpiresAt                     time.Time
	PaidAt                                   *time.Time
}

func topupBody(amount any) fields {
	return fields{"provider": "bankpay", "amount": amount, "currency": "VND"}
}

// topup orders a top-up.
func (s *service) topup(u user, amount int64) (o topup) {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/me/wallet/topups", u.Token, topupBody(amount))
	if a.Status != http.StatusCreated {
		s.t.Fatalf("order a top-up: %d %s, want Status %v", a.Status, a.Body, http.StatusCreated)
	}
	a.Into(s.t, &o)
	return o
}

// topupWith orders a top-up with an idempotency key.
func (s *service) topupWith(u user, key string, body any) apptest.Response {
	s.t.Helper()
	return s.do(http.MethodPost, "/me/wallet/topups", u.Token, body, func(r *http.Request) { r.Header["Idempotency-Key"] = []string{key} })
}

func TestTopup(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	o := s.topup(u, 120_000)
	identifier(t, o.ID, "ord")
	now := s.Clock.Now()
	if o.Provider != "bankpay" || o.Amount != 120_000 || o.Currency != "VND" || o.Points != 120 || o.Status != "pending" || o.PaidAt != nil ||
		!o.CreatedAt.Equal(now) || !o.ExpiresAt.Equal(now.Add(24*time.Hour)) {
		t.Errorf("POST /me/wallet/topups = %+v, want 120000 VND for 120 points, pending from %v to %v", o, now, now.Add(24*time.Hour))
	}
	if o.Bank.BIN != "970436" || o.Bank.Name != "Vietcombank" || o.Bank.AccountNumber != bankAccount || o.Bank.AccountName != "CONG TY GONEBOX" {
		t.Errorf("POST /me/wallet/topups has the bank %+v, want %s at Vietcombank, 970436, of CONG TY GONEBOX", o.Bank, bankAccount)
	}
	if !regexp.MustCompile(`^GB[0-9A-Z]{8}$`).MatchString(o.Memo) {
		t.Errorf("the memo is %q, want GB and 8 characters", o.Memo)
	}
	const head = "00020101021238570010A000000727012700069704360113" + bankAccount + "0208QRIBFTTA530370454061200005802VN62140810"
	if !strings.HasPrefix(o.QR, head+o.Memo+"6304") || len(o.QR) != len(head)+len(o.Memo)+8 {
		t.Errorf("the QR payload is %q, want %q and a checksum of 4 characters", o.QR, head+o.Memo+"6304")
	}
	if diff := cmp.Diff(o, get[topup](s, "/me/wallet/topups/"+o.ID, u.Token)); diff != "" {
		t.Errorf("GET /me/wallet/topups/%s (-want +got):\n%s", o.ID, diff)
	}
	if w := get[walletShown](s, "/me/wallet", u.Token); w != (walletShown{0, "POINT", 1}) {
		t.Errorf("GET /me/wallet = %+v, want %+v", w, walletShown{0, "POINT", 1})
	}
	s.Clock.Advance(24 * time.Hour)
	if got := get[topup](s, "/me/wallet/topups/"+o.ID, u.Token); got.Status != "expired" {
		t.Errorf("GET /me/wallet/topups/%s = %+v, want it expired", o.ID, got)
	}
	if w := get[walletShown](s, "/me/wallet", u.Token); w.PendingTopups != 0 {
		t.Errorf("GET /me/wallet = %+v, want no order pending", w)
	}
}

func TestExpiredOrderIsCreditedForThirtyDays(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	first, second := s.topup(u, 10_000), s.topup(u, 10_000)
	s.Clock.Advance(30 * 24 * time.Hour)
	_, token := s.signIn("ada@example.org", userPassword, "")
	u.Token = token
	s.transferred(1, 10_000, first.Memo)
	eventually(t, "the credit", func() bool { return s.points(u) == 10 })
	s.Clock.Advance(time.Second)
	s.transferred(2, 10_000, second.Memo)
	eventually(t, "the second's reconciliation", func() bool { return s.outcome(2) == "unmatched too_late" })
	if got := get[topup](s, "/me/wallet/topups/"+second.ID, u.Token); got.Status != "expired" || s.points(u) != 10 {
		t.Errorf("GET /me/wallet/topups/%s = %+v, and the wallet has %d points, want the order expired and 10", second.ID, got, s.points(u))
	}
}

func TestTopupRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	for _, c := range []struct {
		body          any
		status        int
		code, pointer string
	}{
		{nil, 422, "request.invalid", ""},
		{fields{}, 422, "request.invalid", ""},
		{fields{"provider": "paypal", "amount": 10_000, "currency": "VND"}, 422, "request.invalid", "/provider"},
		{fields{"provider": "bankpay", "amount": 10_000, "currency": "USD"}, 422, "request.invalid", "/currency"},
		{fields{"provider": "bankpay", "amount": 10_000, "currency": "VND", "points": 1}, 422, "request.invalid", "/points"},
		{topupBody(0), 422, "request.invalid", "/amount"},
		{topupBody(-10_000), 422, "request.invalid", "/amount"},
		{topupBody("10000"), 422, "request.invalid", "/amount"},
		{topupBody(10_000.5), 422, "request.invalid", "/amount"},
		{topupBody(1e30), 422, "request.invalid", "/amount"},
		{topupBody(1), 422, "topup.amount_invalid", ""},
		{topupBody(9_000), 422, "topup.amount_invalid", ""},
		{topupBody(10_001), 422, "topup.amount_invalid", ""},
		{topupBody(50_001_000), 422, "topup.amount_invalid", ""},
		{topupBody(int64(1) << 62), 422, "topup.amount_invalid", ""},
		{fields{"provider": "bnb", "amount": 10_000, "currency": "VND"}, 400, "payment.provider_unavailable", ""},
	} {
		a := s.Call(http.MethodPost, "/me/wallet/topups", u.Token, c.body)
		want(t, a, c.status, c.code)
		if p := problemOf(t, a); c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("POST with %v: %s, want an error at %s first", c.body, a.Body, c.pointer)
		}
	}
	for _, amount := range []int64{10_000, 50_000_000} {
		if o := s.topup(u, amount); o.Points != amount/1000 {
			t.Errorf("s.topup(u, amount) = %+v, want Points %v", o, amount/1000)
		}
	}
	if w := get[walletShown](s, "/me/wallet", u.Token); w.PendingTopups != 2 {
		t.Errorf("GET /me/wallet = %+v, want two orders pending", w)
	}
}

// An order beyond the limit of unpaid ones is possible again once another is paid or expires.
func TestUnpaidOrdersAreBounded(t *testing.T) {
	t.Parallel()
	s := startBank(t, settings{"billing.open_orders": "2"})
	u := s.account("ada@example.org")
	first, _ := s.topup(u, 10_000), s.topup(u, 10_000)
	want(t, s.Call(http.MethodPost, "/me/wallet/topups", u.Token, topupBody(10_000)), 422, "topup.limit_reached")
	s.topup(s.account("eve@example.org"), 10_000)
	s.transferred(1, 10_000, first.Memo)
	eventually(t, "the credit", func() bool { return s.points(u) == 10 })
	s.topup(u, 10_000)
	want(t, s.topupWith(u, "key", topupBody(10_000)), 422, "topup.limit_reached")
	s.Clock.Advance(24 * time.Hour)
	want(t, s.topupWith(u, "key", topupBody(10_000)), 201, "")
}

// A key makes one order for a day, whatever happens meanwhile.
func TestTopupIsIdempotent(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	first := s.topupWith(u, "key-1", topupBody(10_000))
	want(t, first, 201, "")
	var o topup
	first.Into(t, &o)
	s.transferred(1, 10_000, o.Memo)
	eventually(t, "the credit", func() bool { return s.points(u) == 10 })
	s.Clock.Advance(time.Hour)
	again := func(body any) {
		t.Helper()
		a := s.topupWith(u, "key-1", body)
		want(t, a, 201, "")
		if string(a.Body) != string(first.Body) {
			t.Errorf("s.topupWith(u, \"key-1\", body) = %s\n%s, want Body %v", a.Body, first.Body, string(first.Body))
		}
	}
	again(topupBody(10_000))
	again([]byte(`{ "currency":"VND", "provider":"bankpay", "amount":10000 }`)) // the same, written otherwise
	want(t, s.topupWith(u, "key-1", topupBody(20_000)), 422, "idempotency.key_reused")
	want(t, s.topupWith(u, "key-1", topupBody(10_001)), 422, "idempotency.key_reused")
	again(topupBody(10_000))
	for who, key := range map[user]string{u: "key-2", eve: "key-1"} {
		a := s.topupWith(who, key, topupBody(10_000))
		want(t, a, 201, "")
		if string(a.Body) == string(first.Body) {
			t.Errorf("%s of %s: %s, want another order than %s", key, who.Account.Email, a.Body, first.Body)
		}
	}
	s.Clock.Advance(23 * time.Hour)
	if a := s.topupWith(u, "key-1", topupBody(10_000)); string(a.Body) == string(first.Body) {
		t.Error("the response a day later is that of the first, want the idempotency key forgotten")
	}
}

// A call that failed had no effect: its key can be used again, with another body too.
func TestFailedCallReleasesIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	want(t, s.topupWith(u, "k", topupBody(10_001)), 422, "topup.amount_invalid")
	want(t, s.topupWith(u, "k", fields{"provider": "bnb", "amount": 10_000, "currency": "VND"}), 400, "payment.provider_unavailable")
	want(t, s.topupWith(u, "k", topupBody(10_000)), 201, "")
}

func TestInvalidIdempotencyKeysAreRejected(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	for key, status := range map[string]int{
		"": 422, " ": 422, "a b": 422, strings.Repeat("k", 256): 422, "khoá": 422, strings.Repeat("k", 255): 201, `"quoted"`: 201, "~!@#": 201,
	} {
		code := ""
		if status == 422 {
			code = "request.invalid"
		}
		want(t, s.topupWith(u, key, topupBody(10_000)), status, code)
	}
	a := s.do(http.MethodPost, "/me/wallet/topups", u.Token, topupBody(10_000), func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "a"} })
	want(t, a, 422, "request.invalid")
}

// Of concurrent calls with one key, one makes the order and all get its answer.
func TestConcurrentCallsWithOneKeyMakeOneOrder(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	bodies := make([]string, 16)
	var all sync.WaitGroup
	for i := range bodies {
		all.Go(func() {
			r, err := s.Request(t.Context(), http.MethodPost, "/me/wallet/topups", u.Token, topupBody(10_000))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Idempotency-Key", "key")
			a, err := s.Do(r)
			if err != nil || a.Status != http.StatusCreated {
				t.Errorf("POST /me/wallet/topups = %d %s, %v, want %d", a.Status, a.Body, err, http.StatusCreated)
			}
			bodies[i] = string(a.Body)
		})
	}
	all.Wait()
	for _, body := range bodies {
		if body != bodies[0] {
			t.Errorf("bodies[0] = %s\n%s, want %v", body, bodies[0], bodies[0])
		}
	}
	if w := get[walletShown](s, "/me/wallet", u.Token); w.PendingTopups != 1 {
		t.Errorf("GET /me/wallet = %+v, want one order pending", w)
	}
}

func TestForeignOrderLooksUnknown(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	o := s.topup(u, 10_000)
	first := s.call(http.MethodGet, "/me/wallet/topups/"+o.ID, eve.Token, 404, "order.not_found")
	for _, other := range []string{"ord_00000000000000000000000000", "x", "txn_" + o.ID[4:]} {
		same(t, first, s.call(http.MethodGet, "/me/wallet/topups/"+other, eve.Token, 404, "order.not_found"))
	}
}
