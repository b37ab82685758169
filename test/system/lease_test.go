package system_test

import (
	"database/sql"
	"net/http"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/gonebox/gonebox/internal/clock"
)

// takeoverMax bounds how long a periodic task waits for the lease of a killed process: less than the minute it once
// took, with enough time to start the program on a busy machine.
const takeoverMax = 50 * time.Second

// TestKilledReconcilerDelaysCreditsBriefly kills the process that reconciles while it holds the lease, twice in a row.
// The next process soon takes the lease over and credits the payments.
func TestKilledReconcilerDelaysCreditsBriefly(t *testing.T) {
	t.Parallel()
	url := newServer(t).URL("gonebox")
	c := startCluster(t, url, paidSettings(), "api", "jobs")
	front, jobs := c.processes[0], c.processes[1]
	database, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	m := &market{url: front.url}
	p := &payer{market: m, token: front.register("payer@example.org")}
	var o paidOrder
	wish := map[string]any{"provider": "bankpay", "amount": 20_000, "currency": "VND"}
	if err := p.insist(t.Context(), "/me/wallet/topups", p.token, "order", wish, http.StatusCreated, &o); err != nil {
		t.Fatal(err)
	}

	blocker, err := database.BeginTx(t.Context(), nil) // keeps the task waiting while it holds its lease
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = blocker.Rollback() }()
	if _, err := blocker.ExecContext(t.Context(), "LOCK TABLE topup_order IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	transfer := map[string]any{"id": 1, "transferType": "in", "transferAmount": o.Amount, "content": o.Memo, "accountNumber": "0011001932418"}
	if err := p.insist(t.Context(), "/integrations/bankpay/webhook", "", "", transfer, http.StatusOK, nil); err != nil {
		t.Fatal(err)
	}
	var lease, dead int64
	leased := func() bool {
		const query = "SELECT lease_until FROM job_schedule WHERE name = 'reconcile bank transactions'"
		if err := database.QueryRowContext(t.Context(), query).Scan(&lease); err != nil {
			t.Fatal(err)
		}
		return lease > dead
	}
	begun := clock.System().Now()
	for range 2 {
		await(t, "the lease", leased)
		jobs.kill()
		leased()
		dead, begun = lease, clock.System().Now()
		jobs.restart()
	}
	if err := blocker.Rollback(); err != nil {
		t.Fatal(err)
	}
	await(t, "the credit", func() bool {
		return decode[struct{ Status string }](t, front.get("/me/wallet/topups/"+o.ID, p.token)).Status == "paid"
	})
	took := clock.System().Now().Sub(begun)
	t.Logf("credited %s after the process was killed", took.Round(time.Millisecond))
	if took > takeoverMax {
		t.Errorf("the credit came %s after the process was killed, want at most %s", took, takeoverMax)
	}
}
