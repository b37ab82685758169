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

// cashier is a running service with an account and a bank that calls back.
type cashier struct {
	*accounts
	told int // transactions
}

func startCashier(t *testing.T) *cashier {
	t.Helper()
	s := &accounts{t: t, Service: apptest.Start(t, apptest.Options{Set: map[string]string{
		"account.password.memory": "64KiB", "account.password.passes": "1",
		"billing.bankpay.apikey": "secret", "billing.bankpay.allow_networks": "127.0.0.0/8", "billing.bankpay.bank_bin": "970436", "billing.bankpay.account_number": "123",
	}})}
	s.token = s.register(ada)
	return &cashier{accounts: s}
}

// hear has the bank tell of a transfer and waits until the service has looked at it.
func (c *cashier) hear(direction string, amount int64, content string) string {
	c.t.Helper()
	c.told++
	body := map[string]any{"id": c.told, "transferType": direction, "transferAmount": amount, "accountNumber": "123", "content": content}
	r, err := c.Request(c.t.Context(), http.MethodPost, "/integrations/bankpay/webhook", "", body)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Apikey secret")
	if a, err := c.Do(r); err != nil || a.Status != http.StatusOK {
		c.t.Fatalf("%d %s, %v", a.Status, a.Body, err)
	}
	number := fmt.Sprint(c.told)
	for deadline := time.Now().Add(30 * time.Second); c.list("list")[0]["outcome"] == "new"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatal("the service does not look at it")
		}
	}
	return number
}

// order makes a top-up order.
func (c *cashier) order(amount int64) (id, memo string) {
	c.t.Helper()
	a := c.Call(http.MethodPost, "/me/wallet/topups", c.token, map[string]any{"provider": "bankpay", "amount": amount, "currency": "VND"})
	if a.Status != http.StatusCreated {
		c.t.Fatalf("%d %s", a.Status, a.Body)
	}
	var o struct{ ID, Memo string }
	a.Into(c.t, &o)
	return o.ID, o.Memo
}

func (c *cashier) balance() (points int64) {
	c.t.Helper()
	var w struct{ Balance int64 }
	c.Call(http.MethodGet, "/me/wallet", c.token, nil).Into(c.t, &w)
	return w.Balance
}

// payment runs gonebox payment … beside the service and gives what it prints.
func (c *cashier) payment(line string) string {
	c.t.Helper()
	got := gonebox(c.t, "payment "+c.beside(line))
	if got.code != exitOK || got.err != "" {
		c.t.Fatalf("payment %s: code %d, %s", line, got.code, got.err)
	}
	return got.out
}

// beside names the service's folder in a line, in front of what follows --.
func (c *cashier) beside(line string) string {
	before, behind, cut := strings.Cut(line, " -- ")
	line = before + " --data-dir " + c.Dir
	if cut {
		line += " -- " + behind
	}
	return line
}

func (c *cashier) list(line string) (rows []map[string]any) {
	c.t.Helper()
	out := c.payment(line + " --json")
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		c.t.Fatalf("payment %s: %v in %s", line, err, out)
	}
	return rows
}

func TestStaffSettlesPayments(t *testing.T) {
	c := startCashier(t)
	first, memo := c.order(50_000)
	second, _ := c.order(20_000)
	c.hear("in", 50_000, memo)
	forOrder := c.hear("in", 20_000, "no memo\x1b[31m at\tall")
	toAccount, ignored := c.hear("in", 12_500, "more"), c.hear("in", 1_000, "rent")
	c.hear("out", 1_000, "")
	if rows := c.list("list"); len(rows) != 5 || rows[4]["outcome"] != "credited" || rows[4]["order"] != first || rows[4]["points"] != 50.0 || rows[0]["outcome"] != "ignored" || rows[0]["reason"] != "outgoing" {
		t.Errorf("%v", rows)
	}
	if rows := c.list("list --unmatched"); len(rows) != 3 || rows[2]["reason"] != "no_memo" || rows[2]["amount"] != 20_000.0 || rows[2]["settledAt"] == nil {
		t.Errorf("%v", rows)
	}
	if out := c.payment("list --unmatched"); strings.Count(out, "\n") != 4 || !strings.HasPrefix(out, "ID ") || strings.Contains(out, "\x1b") || !strings.Contains(out, "no memo[31m at all") {
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

func TestStaffAdjustsPoints(t *testing.T) {
	c := startCashier(t)
	if out := c.payment("adjust " + ada + " 70 --note sorry"); out != ada+" has 70 points now.\n" {
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

func TestTheNameOfWhoUsedSudoIsKept(t *testing.T) {
	c := startCashier(t)
	transaction := c.hear("in", 1, "")
	if got := gonebox(t, c.beside("payment resolve "+transaction+" --ignore --note x --json"), "SUDO_USER=alice"); got.code != exitOK || !strings.Contains(got.out, `"staff": "alice"`) {
		t.Errorf("%+v", got)
	}
}

func TestPaymentCommandsRefuseWhatIsWrong(t *testing.T) {
	c := startCashier(t)
	order, memo := c.order(10_000)
	paid, open := c.hear("in", 10_000, memo), c.hear("in", 10_000, "")
	for line, want := range map[string]string{
		"resolve 4711 --ignore --note x":                                            "there is no bank transaction 4711",
		"resolve " + paid + " --ignore --note x":                                    "is credited already",
		"resolve " + open + " --order " + order + " --note x":                       "is paid already",
		"resolve " + open + " --order x --note x":                                   `"x" is not the identifier of an order`,
		"resolve " + open + " --order ord_" + strings.Repeat("0", 26) + " --note x": "there is no order",
		"resolve " + open + " --account nobody@example.org --note x":                "there is no account nobody@example.org",
		"adjust nobody@example.org 5 --note x":                                      "there is no account",
		"adjust --note x -- " + ada + " -11":                                        "1 points are missing",
		"adjust " + ada + " 9000000000000000 --note x":                              "cannot be booked",
		"list --after 4711":                                                         "there is no bank transaction 4711",
	} {
		line = "payment " + c.beside(line)
		gonebox(t, line).oneErrorLine(t, line, exitFailure, want)
	}
	for line, want := range map[string]string{
		"payment":                                       "see gonebox payment --help",
		"payment resolve":                               "see gonebox payment resolve --help",
		"payment resolve 1 --note x":                    "--order, --account or --ignore",
		"payment resolve 1 --ignore":                    "--note",
		"payment resolve 1 --ignore --note=":            "say why",
		"payment resolve 1 --ignore --order x --note x": "see gonebox payment resolve --help",
		"payment resolve 1 --ignore --note " + strings.Repeat("x", 501): "at most 500",
		"payment resolve 1 --ignore --note a\x1bb":                      "one line",
		"payment adjust " + ada:                                         "see gonebox payment adjust --help",
		"payment adjust " + ada + " 0 --note x":                         "nothing to book",
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

func TestPaymentCommandsHelp(t *testing.T) {
	for _, command := range []string{"", "list ", "resolve ", "adjust "} {
		got := gonebox(t, "payment "+command+"--help")
		if got.code != exitOK || got.err != "" || !strings.Contains(got.out, "Example:") || !strings.Contains(got.out, "  gonebox payment "+command) {
			t.Errorf("payment %s--help: code %d\n%s%s", command, got.code, got.out, got.err)
		}
	}
}
