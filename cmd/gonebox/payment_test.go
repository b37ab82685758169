package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/user"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// bankService is a running service with an account and a configured bank.
type bankService struct {
	*accounts
	sent int // transactions that the bank has reported
}

func startBank(t *testing.T) *bankService {
	t.Helper()
	s := &accounts{t: t, Service: apptest.Start(t, apptest.Options{Set: map[string]string{
		"account.password.memory": "64KiB", "account.password.passes": "1",
		"billing.bankpay.apikey": "secret", "billing.bankpay.allow_networks": "127.0.0.0/8", "billing.bankpay.bank_bin": "970436", "billing.bankpay.account_number": "123",
	}})}
	s.token = s.register(ada)
	return &bankService{accounts: s}
}

// report has the bank report a transfer and waits until the service has reconciled it.
func (c *bankService) report(direction string, amount int64, content string) string {
	c.t.Helper()
	c.sent++
	body := map[string]any{"id": c.sent, "transferType": direction, "transferAmount": amount, "accountNumber": "123", "content": content}
	r, err := c.Request(c.t.Context(), http.MethodPost, "/integrations/bankpay/webhook", "", body)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Apikey secret")
	if a, err := c.Do(r); err != nil || a.Status != http.StatusOK {
		c.t.Fatalf("%d %s, %v", a.Status, a.Body, err)
	}
	number := fmt.Sprint(c.sent)
	for deadline := time.Now().Add(30 * time.Second); c.list("list")[0]["outcome"] == "new"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatal("the service does not reconcile it")
		}
	}
	return number
}

// order creates a top-up order.
func (c *bankService) order(amount int64) (id, memo string) {
	c.t.Helper()
	a := c.Call(http.MethodPost, "/me/wallet/topups", c.token, map[string]any{"provider": "bankpay", "amount": amount, "currency": "VND"})
	if a.Status != http.StatusCreated {
		c.t.Fatalf("%d %s", a.Status, a.Body)
	}
	var o struct{ ID, Memo string }
	a.Into(c.t, &o)
	return o.ID, o.Memo
}

func (c *bankService) balance() (points int64) {
	c.t.Helper()
	var w struct{ Balance int64 }
	c.Call(http.MethodGet, "/me/wallet", c.token, nil).Into(c.t, &w)
	return w.Balance
}

// payment runs gonebox payment … on the database of the service and returns its output.
func (c *bankService) payment(line string) string {
	c.t.Helper()
	got := gonebox(c.t, "payment "+c.withDataDir(line))
	if got.code != exitOK || got.err != "" {
		c.t.Fatalf("payment %s: code %d, %s", line, got.code, got.err)
	}
	return got.out
}

// withDataDir adds the service's data_dir to a command line, before any --.
func (c *bankService) withDataDir(line string) string {
	before, behind, cut := strings.Cut(line, " -- ")
	line = before + " --data-dir " + c.Dir
	if cut {
		line += " -- " + behind
	}
	return line
}

func (c *bankService) list(line string) (rows []map[string]any) {
	c.t.Helper()
	out := c.payment(line + " --json")
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		c.t.Fatalf("payment %s: %v in %s", line, err, out)
	}
	return rows
}

func TestPaymentResolveSettlesTransactions(t *testing.T) {
	c := startBank(t)
	first, memo := c.order(50_000)
	second, _ := c.order(20_000)
	c.report("in", 50_000, memo)
	forOrder := c.report("in", 20_000, "no memo\x1b[31m at\tall")
	toAccount, ignored := c.report("in", 12_500, "more"), c.report("in", 1_000, "rent")
	c.report("out", 1_000, "")
	if rows := c.list("list"); len(rows) != 5 || rows[4]["outcome"] != "credited" || rows[4]["order"] != first || rows[4]["points"] != 50.0 || rows[0]["outcome"] != "ignored" || rows[0]["reason"] != "outgoing" {
		t.Errorf("%v", rows)
	}
	if rows := c.list("list --unmatched"); len(rows) != 3 || rows[2]["reason"] != "no_memo" || rows[2]["amount"] != 20_000.0 || rows[2]["settledAt"] == nil {
		t.Errorf("%v", rows)
	}
	if out := c.payment("list --unmatched"); strings.Count(out, "\n") != 4 || !strings.HasPrefix(out, "ID ") || strings.Contains(out, "\x1b") || !strings.Contains(out, "no memo\ufffd[31m at all") {
		t.Errorf("%q", out)
	}
	page := c.payment("list --limit 2")
	if !strings.HasSuffix(page, "More: --after 4\n") || strings.Contains(c.payment("list --limit 3 --after 4"), "More") {
		t.Errorf("%s", page)
	}
	if out := c.payment("resolve " + forOrder + " --order " + second + " --note asked"); !strings.Contains(out, "resolved") || !strings.Contains(out, "asked") {
		t.Errorf("%s", out)
	}
	c.payment("resolve " + toAccount + " --account " + strings.ToUpper(ada) + " --note short")
	c.payment("resolve " + ignored + " --ignore --note rent")
	if got := c.balance(); got != 50+20+12 {
		t.Errorf("balance %d", got)
	}
	if rows := c.list("list --unmatched"); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if rows := c.list("list"); rows[2]["staff"] != who.Username || rows[2]["note"] != "short" || rows[2]["outcome"] != "resolved" || rows[1]["outcome"] != "ignored" {
		t.Errorf("%v", rows)
	}
}

func TestPaymentAdjustBooksPoints(t *testing.T) {
	c := startBank(t)
	if out := c.payment("adjust " + ada + " 70 --note sorry"); out != ada+" now has 70 points.\n" {
		t.Errorf("%s", out)
	}
	var row map[string]any
	out := c.payment("adjust --note mistake --json -- " + ada + " -20")
	if err := json.Unmarshal([]byte(out), &row); err != nil || row["amount"] != -20.0 || row["balanceAfter"] != 50.0 {
		t.Errorf("%s, %v", out, err)
	}
	var ledger []struct {
		Kind, Note string
		Amount     int64
	}
	c.Call(http.MethodGet, "/me/wallet/transactions", c.token, nil).Into(t, &ledger)
	if len(ledger) != 2 || ledger[0].Kind != "adjustment" || ledger[0].Note != "mistake" || ledger[0].Amount != -20 {
		t.Errorf("%+v", ledger)
	}
}

func TestSudoUserIsRecorded(t *testing.T) {
	c := startBank(t)
	transaction := c.report("in", 1, "")
	if got := gonebox(t, c.withDataDir("payment resolve "+transaction+" --ignore --note x --json"), "SUDO_USER=alice"); got.code != exitOK || !strings.Contains(got.out, `"staff": "alice"`) {
		t.Errorf("%+v", got)
	}
}

func TestPaymentCommandsRefuseInvalidInput(t *testing.T) {
	c := startBank(t)
	order, memo := c.order(10_000)
	paid, open := c.report("in", 10_000, memo), c.report("in", 10_000, "")
	for line, want := range map[string]string{
		"resolve 4711 --ignore --note x":                                            "there is no bank transaction 4711",
		"resolve " + paid + " --ignore --note x":                                    "is credited already",
		"resolve " + open + " --order " + order + " --note x":                       "is paid already",
		"resolve " + open + " --order x --note x":                                   `"x" is not the identifier of an order`,
		"resolve " + open + " --order ord_" + strings.Repeat("0", 26) + " --note x": "there is no order",
		"resolve " + open + " --account unknown@example.org --note x":               "there is no account unknown@example.org",
		"adjust unknown@example.org 5 --note x":                                     "there is no account",
		"adjust --note x -- " + ada + " -11":                                        "1 points are missing",
		"adjust " + ada + " 9000000000000000 --note x":                              "cannot be booked",
		"list --after 4711":                                                         "there is no bank transaction 4711",
	} {
		line = "payment " + c.withDataDir(line)
		gonebox(t, line).oneErrorLine(t, line, exitFailure, want)
	}
	for line, want := range map[string]string{
		"payment":                                       "see gonebox payment --help",
		"payment resolve":                               "see gonebox payment resolve --help",
		"payment resolve 1 --note x":                    "--order, --account or --ignore",
		"payment resolve 1 --ignore":                    "--note",
		"payment resolve 1 --ignore --note=":            "give a reason",
		"payment resolve 1 --ignore --order x --note x": "see gonebox payment resolve --help",
		"payment resolve 1 --ignore --note " + strings.Repeat("x", 501): "the maximum is 500",
		"payment resolve 1 --ignore --note a\x1bb":                      "one line",
		"payment adjust " + ada:                                         "see gonebox payment adjust --help",
		"payment adjust " + ada + " 0 --note x":                         "points must not be 0",
		"payment adjust " + ada + " 1.5 --note x":                       "see gonebox payment adjust --help",
		"payment adjust " + ada + " 5":                                  "--note",
		"payment list --limit 0":                                        "must be from 1 to 1000",
		"payment frob":                                                  "see gonebox payment --help",
	} {
		gonebox(t, line).oneErrorLine(t, line, exitUsage, want)
	}
	if got := c.balance(); got != 10 {
		t.Errorf("balance %d", got)
	}
}

func TestPaymentHelpHasExamples(t *testing.T) {
	for _, command := range []string{"", "list ", "resolve ", "adjust "} {
		got := gonebox(t, "payment "+command+"--help")
		if got.code != exitOK || got.err != "" || !strings.Contains(got.out, "Example:") || !strings.Contains(got.out, "  gonebox payment "+command) {
			t.Errorf("payment %s--help: code %d\n%s%s", command, got.code, got.out, got.err)
		}
	}
}
