package wallet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// reconcileBatch is how many transfers are settled concurrently, each in its own transaction, so that they share the cost of
// a commit and the failure of one does not affect another.
const reconcileBatch = 32

// Reconcile matches new transfers with orders, oldest first, and credits those that match: each once, in one
// transaction with its order and the ledger. It can be interrupted at any point, and run concurrently in several
// processes. A transfer whose settlement fails is retried by the next call; it neither blocks others nor makes
// Reconcile fail.
//
// A periodic job calls it every billing.reconcile_every and when a transfer arrives. The error is that of listing
// transfers; a canceled ctx ends it after the current batch without an error.
func (s *Service) Reconcile(ctx context.Context) error {
	for last := (position{}); ctx.Err() == nil; {
		batch, err := newTransfers(ctx, s.db, last, reconcileBatch)
		if err != nil {
			return err
		}
		s.settleAll(ctx, batch)
		if len(batch) < reconcileBatch {
			break
		}
		// Continue after the batch and not at the beginning: a transfer that failed is still Unseen, and would be
		// listed again at once.
		last = batch[len(batch)-1]
	}
	return nil
}

// settleAll settles transfers concurrently, each in a goroutine that ends with its transaction, and returns when all
// have ended. Failures are logged.
func (s *Service) settleAll(ctx context.Context, batch []position) {
	var wg sync.WaitGroup
	for _, p := range batch {
		wg.Go(func() {
			if err := s.settle(ctx, p.transfer); err != nil && ctx.Err() == nil { // canceled by a shutdown: no failure
				s.recordFailure(ctx, p, err)
			}
		})
	}
	wg.Wait()
}

// recordFailure logs that a transfer could not be settled. Policy.RetryFor after its arrival it also leaves the transfer
// for staff, unless the database is unavailable, which is temporary and affects all transfers. It does so only if the
// transfer is still Unseen, since another process may have settled it in the meantime.
func (s *Service) recordFailure(ctx context.Context, p position, cause error) {
	giveUp := !s.clock.Now().Before(p.receivedAt.Add(s.policy.RetryFor)) && !db.Unavailable(cause)
	if giveUp {
		m := Match{Transfer: p.transfer, Outcome: Unmatched, Reason: Failed, SettledAt: s.clock.Now()}
		cause = errors.Join(cause, s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := setOutcomeTx(ctx, tx, m, Unseen)
			return err
		}))
	}
	s.log.ErrorContext(ctx, "settling a bank transaction failed", "transaction", p.transfer, "left_for_staff", giveUp, "error", cause)
}

// settle decides on a transfer and stores the result, in one transaction. It reads the transfer before the transaction,
// since a transfer never changes, and the order within it.
func (s *Service) settle(ctx context.Context, transfer string) error {
	t, err := s.transfers.Transfer(ctx, transfer)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := s.decideTx(ctx, tx, t)
		if err != nil {
			return err
		}
		return s.settleTx(ctx, tx, t, v, Unseen)
	})
}

// verdict is the decision on a transfer.
type verdict struct {
	outcome Outcome
	reason  Reason
	order   *Order // paid by it, or named by its memo; may be nil
}

// settleTx stores the decision v on a transfer, and pays the order and credits its points if v says so. If the outcome of
// the transfer is not the expected one, another call has settled it, and settleTx does nothing.
//
// The outcome is stored first: if that changes no row, nothing else may be written, and if a later statement fails, the
// outcome is rolled back with it.
func (s *Service) settleTx(ctx context.Context, tx *db.Tx, t *Transfer, v verdict, expected Outcome) error {
	m := Match{Transfer: t.ID, Outcome: v.outcome, Reason: v.reason, SettledAt: s.clock.Now()}
	pays := v.order != nil && (v.outcome == Credited || v.outcome == Resolved)
	if v.order != nil {
		m.Order = string(v.order.ID)
	}
	if pays {
		m.Account, m.Points = string(v.order.Account), v.order.Points
	}
	settled, err := setOutcomeTx(ctx, tx, m, expected)
	if err != nil || !settled || !pays {
		return err
	}
	if err := payTx(ctx, tx, v.order, t.ID, m.SettledAt); err != nil {
		return err
	}
	_, err = s.CreditTx(ctx, tx, v.order.Account, Topup, v.order.Points, string(v.order.ID), t.ID)
	return err
}

// decideTx decides on a transfer: it pays the order that its memo names, if the amount is equal, it went to the order's
// account, and the order is not paid and not too old (docs/spec/billing.md#bank-transfers). It only reads. An error
// means that no decision was possible, such as a failed read, and not that the transfer does not match.
func (s *Service) decideTx(ctx context.Context, tx *db.Tx, t *Transfer) (verdict, error) {
	switch {
	case t.Direction == Out:
		return verdict{Ignored, Outgoing, nil}, nil
	case t.Fault != "":
		return verdict{Unmatched, Unreadable, nil}, nil
	}
	order, reason, err := findOrderTx(ctx, tx, t.Texts)
	if err != nil || reason != "" {
		return verdict{Unmatched, reason, nil}, err
	}
	if reason := s.mismatch(t, order); reason != "" {
		return verdict{Unmatched, reason, order}, nil
	}
	return verdict{Credited, "", order}, nil
}

// mismatch returns why a transfer does not pay an order, or "" if it does. If several reasons apply, staff see only the
// first one. So the account comes before the amount, since money that went to another account must not be credited at
// all.
func (s *Service) mismatch(t *Transfer, o *Order) Reason {
	switch {
	case !o.paidTo(t.Accounts):
		return OtherAccount
	case !o.PaidAt.IsZero():
		return OrderPaid
	case t.Amount != o.Amount:
		return AmountDiffers
	case t.ReceivedAt.After(o.CreatedAt.Add(s.policy.LatePayment)):
		return TooLate
	}
	return ""
}

// paidTo reports whether one of the bank accounts is the order's. It also returns true if there are none, since the bank
// reports only transfers of the operator's accounts.
func (o *Order) paidTo(accounts []string) bool {
	if len(accounts) == 0 || o.Bank.AccountNumber == "" {
		return true
	}
	return slices.ContainsFunc(accounts, func(number string) bool {
		return strings.EqualFold(strings.ReplaceAll(number, " ", ""), o.Bank.AccountNumber)
	})
}

// findOrderTx finds the order whose memo is in one of the texts, or else returns the reason why there is none. It stops at
// the first text with the memo of an order, since the texts are sorted by likelihood and later ones at best repeat the
// memo. If that text has the memos of several orders, it returns TwoMemos, since either may be meant.
func findOrderTx(ctx context.Context, tx *db.Tx, texts []string) (*Order, Reason, error) {
	reason := NoMemo
	for _, text := range texts {
		var orders []*Order
		for _, memo := range findMemos(text) {
			reason = UnknownMemo
			o, err := orderBy(ctx, tx, selectByMemo, memo)
			if err != nil {
				return nil, "", err
			}
			if o != nil {
				orders = append(orders, o)
			}
		}
		switch len(orders) {
		case 0:
		case 1:
			return orders[0], "", nil
		default:
			return nil, TwoMemos, nil
		}
	}
	return nil, reason, nil
}

// position is the position of a transfer in the list of new ones. Transfers are ordered by time of receipt and then by
// identifier, because several may have the same time.
type position struct {
	receivedAt time.Time
	transfer   string
}
