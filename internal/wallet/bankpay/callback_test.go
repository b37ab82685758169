package bankpay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
)

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

func newService(d *db.DB, log *bytes.Buffer, appended func()) *bankpay.Service {
	return bankpay.New(d, clock.NewFake(noon()), slog.New(slog.NewTextHandler(log, nil)), appended)
}

// The formats in the documentation of the bank's service, and observed variants.
func TestCallbacksAreParsed(t *testing.T) {
	in := func(amount int64, accounts, texts []string) wallet.Transfer {
		return wallet.Transfer{Direction: wallet.In, Amount: amount, Accounts: accounts, Texts: texts}
	}
	for body, c := range map[string]struct {
		id   string
		want wallet.Transfer
	}{
		`{"id": 92704, "gateway": "Vietcombank", "transactionDate": "2023-03-25 14:02:37", "accountNumber": "0123499999", "code": null, "content": "chuyen tien mua iphone",
			"transferType": "in", "transferAmount": 2277000, "accumulated": 19077000, "subAccount": null, "referenceCode": "MBVCB.3278907687", "description": ""}`: {
			"92704", in(2277000, []string{"0123499999"}, []string{"chuyen tien mua iphone"}),
		},
		`{"id": 228478, "gateway": "MBBank", "transactionDate": "2023-11-28 14:18:18", "accountNumber": "0359123123", "subAccount": "VQRQ0001", "code": "SEPAY123123", "content": "SEPAY123123",
			"transferType": "in", "description": "BankAPINotify SEPAY123123", "transferAmount": 50000, "referenceCode": null, "accumulated": 356489}`: {
			"228478", in(50000, []string{"0359123123", "VQRQ0001"}, []string{"SEPAY123123", "SEPAY123123", "BankAPINotify SEPAY123123"}),
		},
		`{"id": 5, "transferType": "out", "transferAmount": 100000, "accountNumber": "1"}`: {
			"5", wallet.Transfer{Direction: wallet.Out, Amount: 100000, Accounts: []string{"1"}},
		},
		`{"id": "228478", "transferType": "IN", "transferAmount": "50000", "accountNumber": 359123123, "content": 42}`: {"228478", in(50000, []string{"359123123"}, []string{"42"})},
		`{"id": "FT23001.77", "transferType": "in", "transferAmount": 50000.00}`:                                       {"FT23001.77", in(50000, nil, nil)},
		`{"id": 12345678901234567890123, "transferType": "in", "transferAmount": "1e5"}`:                               {"12345678901234567890123", in(100000, nil, nil)},
		`{"id": 0, "transferType": "in", "transferAmount": 1, "a new field": {"deep": [1, null]}}`:                     {"0", in(1, nil, nil)},
		`{"id": 1}`: {"1", wallet.Transfer{Fault: "it has no transferAmount above zero"}},
		`{"id": 1, "transferAmount": 5, "transferType": "reversal"}`:         {"1", wallet.Transfer{Amount: 5, Fault: "it has no transferType in or out"}},
		`{"id": 1, "transferType": "in", "transferAmount": 0}`:               {"1", wallet.Transfer{Direction: wallet.In, Fault: "it has no transferAmount above zero"}},
		`{"id": 1, "transferType": "in", "transferAmount": -5}`:              {"1", wallet.Transfer{Direction: wallet.In, Amount: -5, Fault: "it has no transferAmount above zero"}},
		`{"id": 1, "transferType": "in", "transferAmount": 0.5}`:             {"1", wallet.Transfer{Direction: wallet.In, Fault: "it has no transferAmount above zero"}},
		`{"id": 1, "transferType": "in", "transferAmount": "NaN"}`:           {"1", wallet.Transfer{Direction: wallet.In, Fault: "it has no transferAmount above zero"}},
		`{"id": 1, "transferType": "in", "transferAmount": {"value": 5}}`:    {"1", wallet.Transfer{Direction: wallet.In, Fault: "it has no transferAmount above zero"}},
		`{"id": 1, "transferType": "in", "transferAmount": 1, "content":[]}`: {"1", in(1, nil, nil)},
		`{"ID": 7, "id": 8, "transferType": "in", "transferAmount": 1}`:      {"8", in(1, nil, nil)},
	} {
		identifier, got, err := bankpay.Read([]byte(body))
		c.want.ID = c.id
		if err != nil || identifier != c.id || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("Read(%s) = %s, %+v, %v, want %s,\n%+v", body, identifier, got, err, c.id, c.want)
		}
	}
}

func TestCallbackWithoutIdentifierIsRejected(t *testing.T) {
	for _, body := range []string{
		``, `{`, `[]`, `null`, `"x"`, `1`, `{}`, `{"ID": 1}`, `{"id": null}`, `{"id": ""}`, `{"id": " "}`, `{"id": 1.5}`, `{"id": 1e3}`, `{"id": -1}`, `{"id": true}`, `{"id": [1]}`,
		`{"id": {"id": 1}}`, `{"id": "a b"}`, `{"id": "é"}`, `{"id": "` + strings.Repeat("9", 65) + `"}`, `{"id": 1} {"id": 2}`, `id=1&content=x`,
	} {
		if identifier, _, err := bankpay.Read([]byte(body)); !problem.Has(err, problem.RequestInvalid) {
			t.Errorf("%s was read as %s, %v, want the problem %v", body, identifier, err, problem.RequestInvalid)
		}
	}
}

// Parsing never panics, and a body with an identifier keeps it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id": 92704, "accountNumber": "0123499999", "code": null, "content": "x", "transferType": "in", "transferAmount": 2277000}`))
	f.Add([]byte(`{"id": "FT1", "transferAmount": "1e400"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		identifier, transfer, err := bankpay.Read(body)
		if err != nil {
			return
		}
		if identifier == "" || len(identifier) > 64 || strings.TrimSpace(identifier) != identifier || !json.Valid(body) {
			t.Errorf("Read(%q) has the identifier %q, want 1 to 64 octets without white space around them, and the body to be JSON", body, identifier)
		}
		if transfer.Fault == "" && (transfer.Amount <= 0 || transfer.Direction == "") {
			t.Errorf("Read(%q) = %+v, want a positive amount with its direction, or a fault", body, transfer)
		}
	})
}

func TestTransactionIsStoredOnceAndUnchanged(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		var log bytes.Buffer
		calls := 0
		s := newService(d, &log, func() { calls++ })
		first := "{\"id\": 1, \"content\": \"one\", \"strange\": \"\xff\", \"more\": {\"a\": 1}}"
		for _, body := range []string{first, first, `{"id": "1", "content": "two"}`} {
			if err := s.Append(t.Context(), []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := s.Body(t.Context(), "1"); err != nil || string(kept) != first {
			t.Errorf("Body(1) = %s, %v, want %s", kept, err, first)
		}
		if calls != 1 {
			t.Errorf("%d calls, want 1", calls)
		}
		if text := log.String(); strings.Count(text, "another body") != 1 || strings.Contains(text, "two") {
			t.Errorf("the log is\n%s\nwant the contradicting callback reported once, without its body", text)
		}
		transfer, err := s.Transfer(t.Context(), "1")
		if err != nil || !slices.Equal(transfer.Texts, []string{"one"}) || !transfer.ReceivedAt.Equal(noon()) {
			t.Errorf(`s.Transfer("1") = %+v, %v, want no error, Texts %v and ReceivedAt %v`, transfer, err, []string{"one"}, noon())
		}
	})
}

func TestStoreIsAppendOnly(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		s := newService(d, new(bytes.Buffer), nil)
		if err := s.Append(t.Context(), []byte(`{"id": 1}`)); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"UPDATE bankpay_transactions SET received_at = 0", "DELETE FROM bankpay_transactions"} {
			err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, statement)
				return err
			})
			if err == nil {
				t.Errorf("done: %s, want an error", statement)
			}
		}
	})
}

func TestConcurrentCallbacksStoreOneTransaction(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		var calls atomic.Int32
		s := newService(d, new(bytes.Buffer), func() { calls.Add(1) })
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				if err := s.Append(context.Background(), fmt.Appendf(nil, `{"id": %d}`, i%4)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var n int
		if err := d.QueryRow(t.Context(), "SELECT count(*) FROM bankpay_transactions").Scan(&n); err != nil || n != 4 || calls.Load() != 4 {
			t.Errorf("%d rows, %d calls, %v, want 4 of each", n, calls.Load(), err)
		}
	})
}

func TestGateAdmitsOnlyTheBank(t *testing.T) {
	bank, other := netip.MustParseAddr("103.255.238.9"), netip.MustParseAddr("103.255.239.9")
	gate := bankpay.NewGate("s3cret", []netip.Prefix{netip.MustParsePrefix("103.255.238.0/24")})
	for _, c := range []struct {
		authorization string
		client        netip.Addr
		want          bool
	}{
		{"Apikey s3cret", bank, true},
		{"apikey  s3cret", bank, true},
		{"Apikey s3cret", other, false},
		{"Apikey s3cre", bank, false},
		{"Apikey s3crets", bank, false},
		{"Apikey", bank, false},
		{"Bearer s3cret", bank, false},
		{"s3cret", bank, false},
		{"", bank, false},
	} {
		if got := gate.Admits(c.authorization, c.client); got != c.want {
			t.Errorf("%q from %s: %v, want %v", c.authorization, c.client, got, c.want)
		}
	}
	for name, gate := range map[string]bankpay.Gate{
		"no secret":   bankpay.NewGate("", []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}),
		"no networks": bankpay.NewGate("s3cret", nil),
		"zero":        {},
	} {
		for _, authorization := range []string{"", "Apikey ", "Apikey s3cret"} {
			if gate.Admits(authorization, bank) {
				t.Errorf("%s: Admits(%q) = true, want false", name, authorization)
			}
		}
	}
}
