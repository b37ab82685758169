package blackbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

const (
	bankSecret  = "a secret of the bank"
	bankAccount = "0011001932418"
	callback    = "/integrations/bankpay/webhook"
)

// bankSettings configure a bank that calls from this machine.
func bankSettings() settings {
	return settings{
		"billing.bankpay.apikey": bankSecret, "billing.bankpay.allow_networks": "127.0.0.0/8", "billing.bankpay.bank_bin": "970436",
		"billing.bankpay.bank_name": "Vietcombank", "billing.bankpay.account_number": bankAccount, "billing.bankpay.account_name": "CONG TY GONEBOX",
	}
}

// startBank starts a service with accounts and a bank.
func startBank(t testing.TB, set settings) *service {
	t.Helper()
	own := bankSettings()
	maps.Copy(own, set)
	return startAccounts(t, own)
}

// present is Call with a credential that may be the bank's.
func (s *service) present(method, path, credential string, body any) apptest.Response {
	s.t.Helper()
	if !strings.HasPrefix(credential, "Apikey ") && !strings.HasPrefix(credential, "Basic ") {
		return s.Call(method, path, credential, body)
	}
	return s.do(method, path, "", body, func(r *http.Request) { r.Header.Set("Authorization", credential) })
}

// bank makes a callback.
func (s *service) bank(body any) apptest.Response {
	s.t.Helper()
	return s.present(http.MethodPost, callback, "Apikey "+bankSecret, body)
}

// transferred makes a callback for an incoming transfer.
func (s *service) transferred(number int, amount int64, content string) {
	s.t.Helper()
	want(s.t, s.bank(transfer(number, amount, content)), 200, "")
}

func transfer(number int, amount int64, content string) fields {
	return fields{
		"id": number, "gateway": "Vietcombank", "transactionDate": "2026-03-14 19:02:37", "accountNumber": bankAccount, "code": nil, "content": content,
		"transferType": "in", "transferAmount": amount, "accumulated": 19077000, "subAccount": nil, "referenceCode": "MBVCB.3278907687", "description": "",
	}
}

func TestBankCallbackAnswersSuccess(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	for _, body := range []any{
		transfer(92704, 2277000, "chuyen tien mua iphone"),
		transfer(92704, 2277000, "chuyen tien mua iphone"), // told again
		transfer(92704, 1, "another body"),
		fields{"id": "228478"},
		fields{"id": 5, "unknown": fields{"deep": []any{1, nil}}, "transferAmount": "5000"},
		[]byte(`{"id": 6, "content": null, "code": {"strange": true}}`),
	} {
		a := s.bank(body)
		want(t, a, 200, "")
		if got := strings.TrimSpace(string(a.Body)); got != `{"success":true}` {
			t.Errorf(`the bank's callback is answered %s, want {"success":true}`, got)
		}
	}
}

func TestInvalidCallbacksAreRejected(t *testing.T) {
	t.Parallel()
	s := startBank(t, settings{"http.large_body_max": "1KiB"})
	for _, body := range []any{
		[]byte(`{`), []byte(`id=5`), []byte(`[]`), []byte(`null`), []byte(``), []byte(`"5"`),
		fields{},
		fields{"id": nil},
		fields{"id": ""},
		fields{"id": 1.5},
		fields{"id": true},
		fields{"ID": 5},
		fields{"id": strings.Repeat("9", 65)},
		nil,
	} {
		want(t, s.bank(body), 422, "request.invalid")
	}
	want(t, s.bank(fields{"id": 5, "content": strings.Repeat("x", 2000)}), 413, "request.too_large")
	a := s.do(http.MethodPost, callback, "", fields{"id": 5}, func(r *http.Request) {
		r.Header.Set("Authorization", "Apikey "+bankSecret)
		r.Header.Set("Content-Type", "text/plain")
	})
	want(t, a, 415, "request.media_type")
	a = s.do(http.MethodPost, callback+"?x=1", "", fields{"id": 5}, func(r *http.Request) { r.Header.Set("Authorization", "Apikey "+bankSecret) })
	want(t, a, 422, "request.invalid")
}

func TestOnlyBankMayCallBack(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	for credential, code := range map[string]string{
		"": "auth.required", "Apikey": "auth.invalid_token", "Apikey x": "auth.invalid_token", "Apikey " + bankSecret + "x": "auth.invalid_token",
		"Bearer " + bankSecret: "auth.invalid_token", "Bearer " + u.Token: "auth.invalid_token", bankSecret: "auth.invalid_token",
	} {
		a := s.do(http.MethodPost, callback, "", fields{"id": 1}, func(r *http.Request) { r.Header.Set("Authorization", credential) })
		want(t, a, 401, code)
		if a.Header.Get("WWW-Authenticate") != "Apikey" {
			t.Errorf(`WWW-Authenticate: %q, want WWW-Authenticate "Apikey"`, a.Header.Get("WWW-Authenticate"))
		}
	}
	far := startBank(t, settings{"billing.bankpay.allow_networks": "203.0.113.0/24"})
	want(t, far.bank(fields{"id": 1}), 401, "auth.invalid_token")
	closed := startAccounts(t, nil)
	for _, credential := range []string{"Apikey " + bankSecret, "Apikey "} {
		want(t, closed.present(http.MethodPost, callback, credential, fields{"id": 1}), 401, "auth.invalid_token")
	}
}

// Behind a proxy the client's address decides, and clients cannot forge it.
func TestBankAddressIsCheckedBehindProxy(t *testing.T) {
	t.Parallel()
	s := startBank(t, settings{"billing.bankpay.allow_networks": "203.0.113.0/24", "http.trusted_proxies": "127.0.0.0/8"})
	for forwarded, status := range map[string]int{"203.0.113.7": 200, "198.51.100.1": 401, "203.0.113.7, 198.51.100.1": 401, "": 401} {
		a := s.do(http.MethodPost, callback, "", fields{"id": 1}, func(r *http.Request) {
			r.Header.Set("Authorization", "Apikey "+bankSecret)
			r.Header.Set("X-Forwarded-For", forwarded)
		})
		if a.Status != status {
			t.Errorf("the bank's callback forwarded for %q: status %d, want %d", forwarded, a.Status, status)
		}
	}
}

// Clients that guess the secret are limited; the bank is not.
func TestGuessingBankSecretIsLimited(t *testing.T) {
	t.Parallel()
	s := startBank(t, settings{"limits.other": "5/1m"})
	for i := range 30 {
		s.transferred(i, 1, "")
	}
	for range 5 {
		want(t, s.present(http.MethodPost, callback, "Apikey guess", fields{"id": 1}), 401, "auth.invalid_token")
	}
	want(t, s.present(http.MethodPost, callback, "Apikey guess", fields{"id": 1}), 429, "rate.limited")
	s.transferred(30, 1, "")
}

func TestUnknownSecretIsNeverLogged(t *testing.T) {
	t.Parallel()
	var log apptest.Buffer
	set := bankSettings()
	maps.Copy(set, settings{"account.password.memory": "64KiB", "account.password.passes": "1"})
	s := startWith(t, apptest.Options{Set: set, Log: &log})
	s.transferred(1, 5000, "a private text")
	want(t, s.bank(fields{"id": 1, "content": "another private text"}), 200, "")
	want(t, s.present(http.MethodPost, callback, "Apikey guess-4711", fields{"id": 1}), 401, "auth.invalid_token")
	text := log.String()
	for _, secret := range []string{bankSecret, "private text", "guess-4711"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log has %q, want no secrets and no contents in it", secret)
		}
	}
	if !strings.Contains(text, "another body") {
		t.Errorf("the log is\n%s\nwant a report of the contradicting callback", text)
	}
}

// The row keeps the body of the first callback, octet by octet.
func TestCallbackBodyIsStoredUnchanged(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	body := []byte(`{ "id":77,"z":1 , "content":"\u00e9 \/ é", "big": 123456789012345678901234567890, "a":null}`)
	want(t, s.bank(body), 200, "")
	want(t, s.bank([]byte(`{"id": "77"}`)), 200, "")
	var kept []byte
	if err := s.Database().QueryRow("SELECT body FROM bankpay_transactions WHERE id = '77'").Scan(&kept); err != nil || !bytes.Equal(kept, body) {
		t.Errorf("the stored callback is %s, %v, want %s", kept, err, body)
	}
}

// Callbacks become ledger entries, from the order to the credit, whatever their order and number.
func TestPaidOrderReachesLedger(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	o := s.topup(u, 150_000)
	s.Clock.Advance(time.Minute)
	s.transferred(1, 150_000, "MBVCB.5."+strings.ToLower(o.Memo)+".CT tu 0123")
	s.transferred(1, 150_000, "MBVCB.5."+strings.ToLower(o.Memo)+".CT tu 0123")
	eventually(t, "the credit", func() bool { return s.points(u) == 150 })
	paid := get[topup](s, "/me/wallet/topups/"+o.ID, u.Token)
	if paid.Status != "paid" || paid.PaidAt == nil || !paid.PaidAt.Equal(s.Clock.Now()) {
		t.Errorf("GET /me/wallet/topups/%s = %+v, want it paid at %v", o.ID, paid, s.Clock.Now())
	}
	ledger := get[[]ledgerEntry](s, "/me/wallet/transactions", u.Token)
	if len(ledger) != 1 || ledger[0].Kind != "topup" || ledger[0].Amount != 150 || ledger[0].BalanceAfter != 150 || text(ledger[0].Reference) != o.ID || text(ledger[0].Transfer) != "1" || ledger[0].Plan != nil || !ledger[0].CreatedAt.Equal(s.Clock.Now()) {
		t.Errorf("GET /me/wallet/transactions = %+v, want one of 150 points for the order %s and the transfer 1 at %v", ledger, o.ID, s.Clock.Now())
	}
	identifier(t, ledger[0].ID, "txn")
	s.transferred(2, 150_000, o.Memo) // paid twice by mistake: staff's affair
	eventually(t, "the second's reconciliation", func() bool { return s.outcome(2) == "unmatched order_paid" })
	if got := s.points(u); got != 150 {
		t.Errorf("%d points, want 150", got)
	}
}

// outcome is what the service recorded about a transfer.
func (s *service) outcome(number int) (outcome string) {
	s.t.Helper()
	err := s.Database().QueryRow("SELECT outcome || ' ' || coalesce(reason, '') FROM bankpay_match WHERE transaction_id = $1", fmt.Sprint(number)).Scan(&outcome)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(outcome)
}

// A transfer that can never be booked becomes unmatched in the end, and does not affect readiness.
func TestFailingTransferDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	s.fund(u, 10)
	if _, err := s.Database().Exec("UPDATE wallet SET sequence = sequence + 5 WHERE account_id = $1", u.Account.ID); err != nil { // no entry follows that
		t.Fatal(err)
	}
	s.transferred(1, 20_000, s.topup(u, 20_000).Memo)
	s.transferred(2, 30_000, s.topup(eve, 30_000).Memo)
	eventually(t, "another's credit", func() bool { return s.points(eve) == 30 })
	ready := func() {
		t.Helper()
		r, err := http.Get("http://" + s.Jobs + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if text, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusOK {
			t.Errorf("/readyz: %d %s, want StatusCode %v", r.StatusCode, text, http.StatusOK)
		}
	}
	ready()
	s.Clock.Advance(time.Hour)
	eventually(t, "giving up", func() bool { return s.outcome(1) == "unmatched failed" })
	ready()
	if got := s.points(u); got != 10 {
		t.Errorf("%d points, want 10", got)
	}
}

// Without a callback, and after a stop at any moment, the scheduled round does the same.
func TestReconciliationSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := bankSettings()
	maps.Copy(set, settings{"account.password.memory": "64KiB", "account.password.passes": "1"})
	s := startWith(t, apptest.Options{Set: set, Dir: dir})
	u := s.account("ada@example.org")
	o := s.topup(u, 20_000)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(transfer(9, 20_000, o.Memo))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Database().Exec("INSERT INTO bankpay_transactions (id, body, received_at) VALUES ('9', $1, $2)", body, apptest.Noon().UnixMicro()); err != nil {
		t.Fatal(err)
	}
	again := startWith(t, apptest.Options{Set: set, Dir: dir})
	eventually(t, "the credit", func() bool { return again.points(u) == 20 })
	o = again.topup(u, 30_000)
	if body, err = json.Marshal(transfer(10, 30_000, o.Memo)); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Database().Exec("INSERT INTO bankpay_transactions (id, body, received_at) VALUES ('10', $1, $2)", body, apptest.Noon().UnixMicro()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the credit by the clock", func() bool {
		again.Clock.Advance(10 * time.Second)
		return again.points(u) == 50
	})
}
