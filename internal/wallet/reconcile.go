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

// reconcileBatch is how many transfers are settled at the same time, each in a transaction of its own, so that they
// share the cost of a commit and none can spoil another.
const reconcileBatch = 32

// Reconcile matches the transfers that nobody has looked at yet with orders, oldest first, and credits those that fit:
// each once, in one transaction with its order and the ledger. It can be broken off anywhere and run anywhere at the same
// time. A transfer that fails for a fault of ours stays for the next time and keeps no other back, nor is it an error of the
// whole: it says nothing of whether the service can work.
func (s *Service) Reconcile(ctx context.Context) error {
	for last := (place{}); ctx.Err() == nil; {
		batch, err := newTransfers(ctx, s.db, last, reconcileBatch)
		if err != nil {
			return err
		}
		s.settleAll(ctx, batch)
		if len(batch) < reconcileBatch {
			break
		}
		last = batch[len(batch)-1]
	}
	return nil
}

// settleAll settles transfers at the same time.
func (s *Service) settleAll(ctx context.Context, batch []place) {
	var all sync.WaitGroup
	for _, p := range batch {
		all.Go(func() {
			if err := s.settle(ctx, p.transfer); err != nil && ctx.Err() == nil { // what the stop cuts off has not failed
				s.failed(ctx, p, err)
			}
		})
	}
	all.Wait()
}

// failed notes that a transfer could not be settled. It is tried again at every round, and left for staff when that has
// gone on for too long, unless it is the storage that fails: that concerns all of them, and ends.
func (s *Service) failed(ctx context.Context, p place, fault error) {
	over := !s.clock.Now().Before(p.receivedAt.Add(s.policy.RetryFor)) && !db.Unavailable(fault)
	if over {
		m := Match{Transfer: p.transfer, Outcome: Unmatched, Reason: Failed, SettledAt: s.clock.Now()}
		fault = errors.Join(fault, s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := closeTx(ctx, tx, m, Unseen)
			return err
		}))
	}
	s.log.ErrorContext(ctx, "a bank transaction could not be settled", "transaction", p.transfer, "left for staff", over, "error", fault)
}

func (s *Service) settle(ctx context.Context, transfer string) error {
	t, err := s.transfers.Transfer(ctx, transfer)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := s.judgeTx(ctx, tx, t)
		if err != nil {
			return err
		}
		return s.carryOutTx(ctx, tx, t, v, Unseen)
	})
}

// verdict is what is to become of a transfer.
type verdict struct {
	outcome Outcome
	reason  Reason
	order   *Order // that it pays, or that its memo names; may be nil
}

// carryOutTx settles a transfer whose outcome is still what it was; else it does nothing, since another has settled it.
func (s *Service) carryOutTx(ctx context.Context, tx *db.Tx, t *Transfer, v verdict, was Outcome) error {
	m := Match{Transfer: t.ID, Outcome: v.outcome, Reason: v.reason, SettledAt: s.clock.Now()}
	pays := v.order != nil && (v.outcome == Credited || v.outcome == Resolved)
	if v.order != nil {
		m.Order = string(v.order.ID)
	}
	if pays {
		m.Account, m.Points = string(v.order.Account), v.order.Points
	}
	settled, err := closeTx(ctx, tx, m, was)
	if err != nil || !settled || !pays {
		return err
	}
	if err := payTx(ctx, tx, v.order, t.ID, m.SettledAt); err != nil {
		return err
	}
	_, err = s.CreditTx(ctx, tx, v.order.Account, Topup, v.order.Points, string(v.order.ID), transferNote(t.ID))
	return err
}

// transferNote is what the ledger says of a credit.
func transferNote(transfer string) string { return "bank transfer " + transfer }

// judgeTx decides what is to become of a transfer (decisions §2): the order that its memo names is paid if the amount is
// exactly right, it went to the right account, the order is not paid yet and not too old.
func (s *Service) judgeTx(ctx context.Context, tx *db.Tx, t *Transfer) (verdict, error) {
	switch {
	case t.Direction == Out:
		return verdict{Ignored, Outgoing, nil}, nil
	case t.Fault != "":
		return verdict{Unmatched, Unreadable, nil}, nil
	}
	order, reason, err := namedTx(ctx, tx, t.Texts)
	if err != nil || reason != "" {
		return verdict{Unmatched, reason, nil}, err
	}
	if reason := s.misfit(t, order); reason != "" {
		return verdict{Unmatched, reason, order}, nil
	}
	return verdict{Credited, "", order}, nil
}

// misfit is why a transfer does not pay an order, or "".
func (s *Service) misfit(t *Transfer, o *Order) Reason {
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

// paidTo reports whether the payer was told one of the accounts. A bank that tells no account is believed, since it
// calls for the operator's own accounts alone.
func (o *Order) paidTo(accounts []string) bool {
	if len(accounts) == 0 || o.Bank.AccountNumber == "" {
		return true
	}
	return slices.ContainsFunc(accounts, func(number string) bool {
		return strings.EqualFold(strings.ReplaceAll(number, " ", ""), o.Bank.AccountNumber)
	})
}

// namedTx finds the one order whose memo stands in the first of the texts that names any; else it gives the reason why
// there is none.
func namedTx(ctx context.Context, tx *db.Tx, texts []string) (*Order, Reason, error) {
	reason := NoMemo
	for _, text := range texts {
		var named []*Order
		for _, memo := range memosIn(text) {
			reason = UnknownMemo
			o, err := orderBy(ctx, tx, selectByMemo, memo)
			if err != nil {
				return nil, "", err
			}
			if o != nil {
				named = append(named, o)
			}
		}
		switch len(named) {
		case 0:
		case 1:
			return named[0], "", nil
		default:
			return nil, TwoMemos, nil
		}
	}
	return nil, reason, nil
}

// place is where a list of transfers goes on.
type place struct {
	receivedAt time.Time
	transfer   string
}
