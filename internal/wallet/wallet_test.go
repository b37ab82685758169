package wallet_test

import (
	"flag"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/wallet"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "15"); err != nil { // each commits many times; a flag asks for more
		panic(err)
	}
	flag.Parse()
	os.Exit(m.Run())
}

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

func newAccount(c clock.Clock) id.Account { return id.New[id.Account](c.Now()) }

// ourBank is the account to pay to.
func ourBank() wallet.Bank {
	return wallet.Bank{BIN: "970436", Name: "Vietcombank", AccountNumber: "0011001932418", AccountName: "GONEBOX"}
}

func newService(d *db.DB, c clock.Clock) *wallet.Service { return newServiceWith(d, c, nil) }

func newServiceWith(d *db.DB, c clock.Clock, transfers wallet.Transfers) *wallet.Service {
	return wallet.New(wallet.Parts{
		DB: d, Clock: c, Responses: idempotency.New(d, c, 24*time.Hour), Transfers: transfers, Logger: slog.New(slog.DiscardHandler),
		Policy: wallet.Policy{
			VNDPerPoint: 1000, TopupMin: 10_000, TopupMax: 50_000_000, OrderTTL: 24 * time.Hour, LatePayment: 30 * 24 * time.Hour, Bank: ourBank(),
			OpenMax: 50, OrderKeep: 90 * 24 * time.Hour, RetryFor: time.Hour,
			Providers: []wallet.Provider{{Code: wallet.Bankpay, Status: wallet.Active}, {Code: wallet.BNB, Status: wallet.ComingSoon}},
		},
	})
}

// count counts rows.
func count(t *testing.T, d *db.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := d.QueryRow(t.Context(), "SELECT count(*) FROM "+query, args...).Scan(&n); err != nil {
		t.Fatalf("count the rows of %s: %v", query, err)
	}
	return n
}
