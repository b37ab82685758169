package wallet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
)

// fixture is a wallet.Service with a bankpay.Service.
type fixture struct {
	*wallet.Service
	t     *testing.T
	db    *db.DB
	clock *clock.Fake
	bank  *bankpay.Service
	ada   id.Account
	last  int // the identifier of the last transfer
}

func newFixture(t *testing.T, d *db.DB) *fixture {
	t.Helper()
	c := clock.NewFake(noon())
	bank := bankpay.New(d, c, slog.New(slog.DiscardHandler), nil)
	return &fixture{Service: newServiceWith(d, c, bank), t: t, db: d, clock: c, bank: bank, ada: newAccount(c)}
}

// order creates an order of an amount.
func (d *fixture) order(amount int64) *wallet.Order {
	d.t.Helper()
	o, err := d.Order(d.t.Context(), d.ada, wallet.OrderParams{Provider: wallet.Bankpay, Amount: amount, Currency: wallet.VND}, "")
	if err != nil {
		d.t.Fatal(err)
	}
	return o
}

// reportTransfer stores a transfer as the bank reports it and returns its identifier.
func (d *fixture) reportTransfer(direction string, amount int64, account, content string) string {
	d.t.Helper()
	d.last++
	body := fmt.Sprintf(`{"id": %d, "transferType": %q, "transferAmount": %d, "accountNumber": %q, "content": %q}`, d.last, direction, amount, account, content)
	if err := d.bank.Append(d.t.Context(), []byte(body)); err != nil {
		d.t.Fatal(err)
	}
	return fmt.Sprint(d.last)
}

func (d *fixture) reconcile() {
	d.t.Helper()
	if err := d.Reconcile(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// outcome returns the outcome of a transfer and its reason, separated by a space.
func (d *fixture) outcome(transfer string) string {
	d.t.Helper()
	m, err := d.Match(d.t.Context(), transfer)
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.TrimSpace(string(m.Outcome) + " " + string(m.Reason))
}

func TestMatchingTransferPaysItsOrder(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		o := k.order(250_000)
		transfer := k.reportTransfer("in", 250_000, ourBank().AccountNumber, "MBVCB.1."+strings.ToLower(o.Memo)+".CT tu 0123 NGUYEN VAN A")
		k.clock.Advance(time.Minute)
		for range 3 { // again and again nothing more happens
			k.reconcile()
		}
		paid, err := k.FindOrder(t.Context(), k.ada, o.ID)
		if err != nil || paid.Status(k.clock.Now()) != wallet.Paid || !paid.PaidAt.Equal(noon().Add(time.Minute)) {
			t.Errorf("FindOrder(%s) = %+v, %v, want it paid a minute after noon", o.ID, paid, err)
		}
		want := wallet.Match{
			Transfer: transfer, ReceivedAt: noon(), Outcome: wallet.Credited, Order: string(o.ID), Account: string(k.ada), Points: 250, SettledAt: noon().Add(time.Minute),
		}
		if m, err := k.Match(t.Context(), transfer); err != nil || *m != want {
			t.Errorf("Match(%s) = %+v, %v, want %+v", transfer, m, err, want)
		}
		all, err := k.Entries(t.Context(), k.ada, 0, 10)
		if err != nil || len(all) != 1 || all[0].Amount != 250 || all[0].Reference != string(o.ID) || all[0].Kind != wallet.Topup || all[0].Transfer != transfer || !strings.Contains(all[0].Note, transfer) {
			t.Errorf("Entries = %+v, %v, want one of 250 points for the order %s, with the transfer %s as field and in the note", all, err, o.ID, transfer)
		}
	})
}

func TestMismatchIsLeftForStaffWithItsReason(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		number := ourBank().AccountNumber
		paid := k.order(10_000)
		k.reportTransfer("in", 10_000, number, paid.Memo)
		k.reconcile()
		a, b := k.order(20_000), k.order(20_000)
		for _, c := range []struct {
			direction string
			amount    int64
			account   string
			content   string
			want      string
		}{
			{"in", 20_000, number, "tien nha thang 3", "unmatched no_memo"},
			{"in", 20_000, number, "", "unmatched no_memo"},
			{"in", 20_000, number, a.Memo[:9], "unmatched no_memo"},
			{"in", 20_000, number, "GB" + strings.Repeat("A", 8), "unmatched unknown_memo"},
			{"in", 20_000, number, a.Memo + " " + b.Memo, "unmatched two_memos"},
			{"in", 20_000, "999", a.Memo, "unmatched other_account"},
			{"in", 19_999, number, a.Memo, "unmatched amount_differs"},
			{"in", 20_001, number, a.Memo, "unmatched amount_differs"},
			{"in", 10_000, number, paid.Memo, "unmatched order_paid"},
			{"out", 20_000, number, a.Memo, "ignored outgoing"},
			{"back", 20_000, number, a.Memo, "unmatched unreadable"},
			{"in", 0, number, a.Memo, "unmatched unreadable"},
		} {
			transfer := k.reportTransfer(c.direction, c.amount, c.account, c.content)
			k.reconcile()
			if got := k.outcome(transfer); got != c.want {
				t.Errorf("%+v: k.outcome(transfer) = %s, want %v", c, got, c.want)
			}
		}
		if w, err := k.Of(t.Context(), k.ada); err != nil || w.Balance != 10 || w.Pending != 2 {
			t.Errorf("k.Of(k.ada) = %+v, %v, want no error, Balance 10 and Pending 2", w, err)
		}
	})
}

func TestMemoIsFoundInTextsOfBanks(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		for _, form := range []string{
			"%s", "%s.", "MBVCB.5.%s.CT", "IBFT %s", "GB %s", "GB%s", "BGB%sGB", "nap tien %s GBAAAAAAAA", "%sCHUYEN KHOAN", "Nguyễn %s ủng hộ",
		} {
			o := k.order(10_000)
			transfer := k.reportTransfer("in", 10_000, ourBank().AccountNumber, fmt.Sprintf(form, o.Memo))
			k.reconcile()
			if got := k.outcome(transfer); got != "credited" {
				t.Errorf(`%s: k.outcome(transfer) = %s, want "credited"`, form, got)
			}
		}
		o := k.order(10_000)
		apart := strings.ToLower(o.Memo[:2] + " " + o.Memo[2:5] + "-" + o.Memo[5:9] + "." + o.Memo[9:])
		if transfer := k.reportTransfer("in", 10_000, ourBank().AccountNumber, apart); true {
			k.reconcile()
			if got := k.outcome(transfer); got != "credited" {
				t.Errorf(`%s: k.outcome(transfer) = %s, want "credited"`, apart, got)
			}
		}
	})
}

func TestMemoIsFoundInOtherFields(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		for i, body := range []string{
			`{"id": %d, "transferType": "in", "transferAmount": 10000, "code": "%s", "content": "cut off"}`,
			`{"id": %d, "transferType": "in", "transferAmount": 10000, "description": "BankAPINotify %s", "content": null}`,
			`{"id": %d, "transferType": "in", "transferAmount": 10000, "description": "GBAAAAAAAA", "content": "%s", "code": "GBCCCCCCCC"}`,
			`{"id": %d, "transferType": "in", "transferAmount": 10000, "content": "%s", "accountNumber": "main", "subAccount": "0011 0019 32418"}`,
		} {
			o := k.order(10_000)
			if err := k.bank.Append(t.Context(), fmt.Appendf(nil, body, 100+i, o.Memo)); err != nil {
				t.Fatal(err)
			}
			k.reconcile()
			if got := k.outcome(fmt.Sprint(100 + i)); got != "credited" {
				t.Errorf("the transfer of %s has the outcome %s, want credited", body, got)
			}
		}
	})
}

func TestLatePaymentIsCreditedForThirtyDays(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		for late, want := range map[time.Duration]string{23 * time.Hour: "credited", 30 * 24 * time.Hour: "credited", 30*24*time.Hour + time.Second: "unmatched too_late"} {
			o := k.order(10_000)
			k.clock.Advance(late)
			status := wallet.Expired
			if late < 24*time.Hour {
				status = wallet.Pending
			}
			if got := o.Status(k.clock.Now()); got != status {
				t.Errorf("after %s: %s, want %v", late, got, status)
			}
			transfer := k.reportTransfer("in", 10_000, ourBank().AccountNumber, o.Memo)
			k.clock.Advance(90 * 24 * time.Hour) // the reconciliation's own delay is not the payer's
			k.reconcile()
			if got := k.outcome(transfer); got != want {
				t.Errorf("after %s: %s, want %v", late, got, want)
			}
		}
	})
}

// Concurrent reconciliations credit each transfer once; of several transfers for one order one pays it.
func TestConcurrentReconciliationsCreditOnce(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		const orders, each = 10, 4
		for range orders {
			o := k.order(10_000)
			for range each {
				k.reportTransfer("in", 10_000, ourBank().AccountNumber, o.Memo)
			}
		}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if err := k.Reconcile(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := balanceOf(t, k.Service, k.ada); got != orders*10 {
			t.Errorf("balance %d, want %v", got, orders*10)
		}
		credited, paid := count(t, d, "bankpay_match WHERE outcome = 'credited'"), count(t, d, "bankpay_match WHERE reason = 'order_paid'")
		if credited != orders || paid != orders*(each-1) || count(t, d, "bankpay_match WHERE outcome = 'new'") != 0 {
			t.Errorf("%d transfers credited, %d left because the order was paid, want %d, %d and no new one", credited, paid, orders, orders*(each-1))
		}
	})
}

// failingTransfers returns an error for the transfers for which fails does.
type failingTransfers struct {
	wallet.Transfers
	fails func(string) error
}

func (b failingTransfers) Transfer(ctx context.Context, transfer string) (*wallet.Transfer, error) {
	if err := b.fails(transfer); err != nil {
		return nil, err
	}
	return b.Transfers.Transfer(ctx, transfer)
}

// A transfer whose settlement fails does not block others, and is credited when the failure has passed.
func TestFailedTransferDoesNotBlockOthers(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		bad := true
		b := failingTransfers{k.bank, func(transfer string) error {
			if bad && len(transfer) == 1 { // the first nine
				return errors.New("the disk is tired")
			}
			return nil
		}}
		k.Service = newServiceWith(d, k.clock, b)
		for range 40 {
			k.reportTransfer("in", 10_000, ourBank().AccountNumber, k.order(10_000).Memo)
		}
		k.clock.Advance(time.Hour - time.Second)
		k.reconcile()
		if got := balanceOf(t, k.Service, k.ada); got != 310 {
			t.Errorf("balance %d, want 310", got)
		}
		bad = false
		k.reconcile()
		if got := balanceOf(t, k.Service, k.ada); got != 400 {
			t.Errorf("balance %d, want 400", got)
		}
	})
}

// A transfer whose settlement fails for an hour is left for staff, who can settle it when the failure has passed.
func TestRepeatedFailureIsLeftForStaff(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		fault := errors.New("its row is broken")
		b := failingTransfers{k.bank, func(string) error { return fault }}
		k.Service = newServiceWith(d, k.clock, b)
		o := k.order(10_000)
		transfer := k.reportTransfer("in", 10_000, ourBank().AccountNumber, o.Memo)
		for _, c := range []struct {
			after time.Duration
			fault error
			want  string
		}{
			{0, fault, "new"},
			{time.Hour - time.Microsecond, fault, "new"},
			{24 * time.Hour, fmt.Errorf("away: %w", db.ErrUnavailable), "new"}, // the storage's fault is no transfer's
			{0, fault, "unmatched failed"},
			{0, nil, "unmatched failed"},
		} {
			k.clock.Advance(c.after)
			fault = c.fault
			k.reconcile()
			if got := k.outcome(transfer); got != c.want {
				t.Errorf("after %s with %v: %s, want %s", c.after, c.fault, got, c.want)
			}
		}
		if err := k.ResolveByOrder(t.Context(), transfer, o.ID, by("mended")); err != nil || balanceOf(t, k.Service, k.ada) != 10 || k.outcome(transfer) != "resolved failed" {
			t.Errorf("ResolveByOrder = %v, the balance is %d and the outcome %q, want no error, 10 and resolved failed", err, balanceOf(t, k.Service, k.ada), k.outcome(transfer))
		}
	})
}

func TestMemosAreUnambiguous(t *testing.T) {
	seen := make(map[string]bool)
	for range 10_000 {
		memo := wallet.NewMemo()
		if len(memo) != 10 || !strings.HasPrefix(memo, "GB") || strings.ContainsAny(memo[2:], "01OIL2Z5S8BG6UV") || seen[memo] {
			t.Fatalf("NewMemo() = %s, want GB and 8 characters that cannot be confused, another each time", memo)
		}
		seen[memo] = true
		if diff := cmp.Diff([]string{memo}, wallet.FindMemos("gb "+strings.ToLower(memo)+"GB "+memo)); diff != "" {
			t.Fatalf("FindMemos of a memo in small letters and again in capitals (-want +got):\n%s", diff)
		}
	}
}

// Only a bounded part of a long text is searched.
func TestLongTextIsSearchedInPart(t *testing.T) {
	memo := wallet.NewMemo()
	if found := wallet.FindMemos(strings.Repeat("x", 5000) + memo); len(found) != 0 {
		t.Errorf("FindMemos of a memo behind 5000 letters = %v, want none", found)
	}
	if found := wallet.FindMemos(strings.Repeat(" ", 4000) + memo); len(found) != 1 {
		t.Errorf("FindMemos of a memo behind 4000 spaces = %v, want one", found)
	}
}

func FuzzMemosIn(f *testing.F) {
	f.Add("MBVCB.5.GBACDEFHJK.CT tu 0123")
	f.Add("gbgb acde-fhjk")
	f.Add("GBế34567890")
	f.Fuzz(func(t *testing.T, text string) {
		for _, memo := range wallet.FindMemos(text) {
			if len(memo) != 10 || !strings.HasPrefix(memo, "GB") || !bytes.Equal(bytes.ToUpper([]byte(memo)), []byte(memo)) {
				t.Errorf("FindMemos(%q) has %q, want GB and eight more capitals or digits", text, memo)
			}
		}
	})
}
