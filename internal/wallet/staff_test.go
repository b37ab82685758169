package wallet_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wallet"
)

func by(note string) wallet.Staff { return wallet.Staff{Name: "alice", Note: note} }

func TestStaffSettlesUnmatchedTransfers(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		number := ourBank().AccountNumber
		o := k.order(30_000)
		forOrder, toAccount, ignored := k.reportTransfer("in", 30_000, number, "no memo"), k.reportTransfer("in", 12_345, number, o.Memo), k.reportTransfer("in", 5_000, number, "")
		k.reconcile()
		k.clock.Advance(time.Hour)
		if err := k.ResolveByOrder(t.Context(), forOrder, o.ID, by("asked the payer")); err != nil {
			t.Fatal(err)
		}
		if err := k.ResolveToAccount(t.Context(), toAccount, k.ada, by("paid short")); err != nil {
			t.Fatal(err)
		}
		if err := k.Ignore(t.Context(), ignored, by("rent")); err != nil {
			t.Fatal(err)
		}
		if got := balanceOf(t, k.Service, k.ada); got != 30+12 {
			t.Errorf("balance after an order of 30 points and a transfer of 12 were resolved: got %d, want 42", got)
		}
		at := k.clock.Now()
		for _, want := range []wallet.Match{
			{
				Transfer: forOrder, ReceivedAt: noon(), Outcome: wallet.Resolved, Reason: wallet.NoMemo, Order: string(o.ID), Account: string(k.ada), Points: 30,
				SettledAt: at, Staff: "alice", Note: "asked the payer",
			},
			{
				Transfer: toAccount, ReceivedAt: noon(), Outcome: wallet.Resolved, Reason: wallet.AmountDiffers, Order: string(o.ID), Account: string(k.ada), Points: 12,
				SettledAt: at, Staff: "alice", Note: "paid short",
			},
			{Transfer: ignored, ReceivedAt: noon(), Outcome: wallet.Ignored, Reason: wallet.NoMemo, SettledAt: at, Staff: "alice", Note: "rent"},
		} {
			if m, err := k.Match(t.Context(), want.Transfer); err != nil || *m != want {
				t.Errorf("Match(%s): got %+v and the error %v, want %+v", want.Transfer, m, err, want)
			}
		}
		if paid, err := k.FindOrder(t.Context(), k.ada, o.ID); err != nil || paid.PaidAt.IsZero() {
			t.Errorf("FindOrder of a resolved order = %+v, %v, want it paid", paid, err)
		}
		if n := count(t, d, "wallet_audit"); n != 3 {
			t.Errorf("lines of the audit after three decisions: got %d, want 3", n)
		}
		k.reconcile()
		if got := balanceOf(t, k.Service, k.ada); got != 42 {
			t.Errorf("balance after reconciling again: got %d, want the same 42", got)
		}
	})
}

func TestStaffCannotSettleTwiceOrWrongly(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		number := ourBank().AccountNumber
		paid, open := k.order(10_000), k.order(20_000)
		credited, out, odd, small, left := k.reportTransfer("in", 10_000, number, paid.Memo), k.reportTransfer("out", 5, number, ""), k.reportTransfer("back", 5, number, ""),
			k.reportTransfer("in", 999, number, ""), k.reportTransfer("in", 10_000, number, "")
		k.reconcile()
		unseen := k.reportTransfer("in", 10_000, number, "")
		for what, c := range map[string]struct {
			err  error
			want string
		}{
			"credited":       {k.ResolveToAccount(t.Context(), credited, k.ada, by("x")), "is credited already"},
			"credited again": {k.Ignore(t.Context(), credited, by("x")), "is credited already"},
			"outgoing":       {k.ResolveToAccount(t.Context(), out, k.ada, by("x")), "is not an incoming payment"},
			"unreadable":     {k.ResolveByOrder(t.Context(), odd, open.ID, by("x")), "is not an incoming payment"},
			"no point":       {k.ResolveToAccount(t.Context(), small, k.ada, by("x")), "less than a point"},
			"paid order":     {k.ResolveByOrder(t.Context(), left, paid.ID, by("x")), "is paid already"},
			"other amount":   {k.ResolveByOrder(t.Context(), left, open.ID, by("x")), "over 20000 VND and the transfer over 10000"},
			"no order":       {k.ResolveByOrder(t.Context(), left, id.New[id.Order](noon()), by("x")), "there is no order"},
			"no transfer":    {k.Ignore(t.Context(), "4711", by("x")), "there is no bank transaction 4711"},
			"to nowhere":     {k.ResolveToAccount(t.Context(), "4711", k.ada, by("x")), "there is no bank transaction 4711"},
			"unseen":         {k.ResolveToAccount(t.Context(), unseen, k.ada, by("x")), "is not processed yet"},
		} {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("settling a transfer (%s): got the error %v, want one that says %q", what, c.err, c.want)
			}
		}
		if n, balance := count(t, d, "wallet_audit"), balanceOf(t, k.Service, k.ada); n != 0 || balance != 10 {
			t.Errorf("after refused decisions: got %d lines of the audit and a balance of %d, want 0 and 10", n, balance)
		}
	})
}

func TestTransfersAreListedInPages(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		for i := range 6 {
			content := ""
			if i%2 == 0 {
				content = k.order(10_000).Memo
			}
			k.reportTransfer("in", 10_000, ourBank().AccountNumber, content)
		}
		k.reconcile()
		for unmatched, want := range map[bool]string{false: "6 5 4 3 2 1", true: "6 4 2"} {
			var got []string
			for after := ""; ; {
				page, err := k.Matches(t.Context(), unmatched, after, 2)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range page {
					got = append(got, m.Transfer)
					after = m.Transfer
				}
				if len(page) < 2 {
					break
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("Matches in pages of two, unmatched only %t: got %v, want %s", unmatched, got, want)
			}
		}
		if _, err := k.Matches(t.Context(), false, "4711", 2); err == nil {
			t.Error("Matches after 4711, which does not exist: got no error, want one")
		}
	})
}

func TestStaffAdjustsWithinTheBalance(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newFixture(t, d)
		e, err := k.Adjust(t.Context(), k.ada, 70, by("sorry"))
		if err != nil || e.Kind != wallet.Adjustment || e.BalanceAfter != 70 || e.Note != "sorry" {
			t.Fatalf(`Adjust(ada, 70, by("sorry")): got %+v and the error %v, want an adjustment with the note and a balance of 70`, e, err)
		}
		if e, err := k.Adjust(t.Context(), k.ada, -20, by("too much")); err != nil || e.BalanceAfter != 50 {
			t.Errorf(`Adjust(ada, -20, by("too much")): got %+v and the error %v, want a balance of 50`, e, err)
		}
		if _, err := k.Adjust(t.Context(), k.ada, -51, by("x")); !problem.Has(err, problem.WalletInsufficientPoints) {
			t.Errorf(`Adjust(ada, -51, by("x")) of 50 points: got the error %v, want %s`, err, problem.WalletInsufficientPoints)
		}
		for _, points := range []int64{0, 1 << 62, -1 << 63} {
			if _, err := k.Adjust(t.Context(), k.ada, points, by("x")); !problem.Has(err, problem.RequestInvalid) {
				t.Errorf(`Adjust(ada, %d, by("x")): got the error %v, want %s`, points, err, problem.RequestInvalid)
			}
		}
		if n := count(t, d, "wallet_audit WHERE subject = $1 AND action = 'adjust' AND staff = 'alice' AND note = 'sorry'", e.ID); n != 1 {
			t.Errorf("lines of the audit with the first adjustment: got %d, want 1", n)
		}
		for _, statement := range []string{"UPDATE wallet_audit SET staff = 'bob'", "DELETE FROM wallet_audit"} {
			err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, statement)
				return err
			})
			if err == nil {
				t.Errorf("%s: got no error, want the database to refuse it", statement)
			}
		}
	})
}
