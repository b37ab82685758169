package wallet

import (
	"context"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Staff is the member of staff who makes a change, and the reason. Both are stored permanently. Name is a user name of
// the operating system for commands, and the e-mail address of the member's account for calls of the API.
type Staff struct{ Name, Note string }

// The actions in the audit log.
const (
	actionAdjust  = "adjust"  // points were credited or debited without a transfer
	actionOrder   = "order"   // a transfer paid an order
	actionAccount = "account" // a transfer was credited to an account without an order
	actionIgnore  = "ignore"  // a transfer was settled without a credit
)

// Matches returns at most max bank transfers older than after, newest first; "" is the beginning. With unmatched it
// returns only those that are left for staff. after is the identifier of a transfer. Error: payment.not_found, if there
// is no such transfer.
func (s *Service) Matches(ctx context.Context, unmatched bool, after string, max int) ([]*Match, error) {
	var before *Match
	if after != "" {
		m, err := s.match(ctx, s.db, after)
		if err != nil {
			return nil, err
		}
		before = m
	}
	query := selectMatches
	if unmatched {
		query = selectUnmatched
	}
	return listMatches(ctx, s.db, query, before, max)
}

// Match returns a transfer and its outcome. Error: payment.not_found.
func (s *Service) Match(ctx context.Context, transfer string) (*Match, error) {
	return s.match(ctx, s.db, transfer)
}

// match is Match on a database or in a transaction. Error: payment.not_found.
func (s *Service) match(ctx context.Context, q db.Queryer, transfer string) (*Match, error) {
	m, err := matchOf(ctx, q, transfer)
	if err == nil && m == nil {
		err = problem.Detailf(problem.PaymentNotFound, "there is no bank transaction %s", transfer)
	}
	return m, err
}

// ResolveByOrder pays an order with an unmatched transfer of the same amount, whatever its text and however late it is,
// and credits the order's points. The amount must be equal because the points of an order are fixed; anything else is
// for ResolveToAccount. Errors: payment.not_found, payment.not_resolvable, order.not_found.
func (s *Service) ResolveByOrder(ctx context.Context, transfer string, order id.Order, by Staff) error {
	return s.resolve(ctx, transfer, actionOrder, by, func(ctx context.Context, tx *db.Tx, t *Transfer) (verdict, error) {
		o, err := orderBy(ctx, tx, selectOrder, order)
		switch {
		case err != nil:
			return verdict{}, err
		case o == nil:
			return verdict{}, problem.Detailf(problem.OrderNotFound, "there is no order %s", order)
		case !o.PaidAt.IsZero():
			return verdict{}, problem.Detailf(problem.PaymentNotResolvable, "order %s is paid already; credit the transfer to the account instead", order)
		case o.Amount != t.Amount:
			return verdict{}, problem.Detailf(problem.PaymentNotResolvable, "order %s is over %d VND and the transfer over %d; credit the transfer to the account instead", order, o.Amount, t.Amount)
		}
		return verdict{Resolved, "", o}, nil
	})
}

// ResolveToAccount credits the value of an unmatched transfer to an account, in whole points, without an order.
// Fractions of a point are not credited. The caller checks that the account exists. Errors: payment.not_found,
// payment.not_resolvable.
func (s *Service) ResolveToAccount(ctx context.Context, transfer string, account id.Account, by Staff) error {
	t, err := s.incomingTransfer(ctx, transfer)
	if err != nil {
		return err
	}
	points := t.Amount / s.policy.VNDPerPoint
	if points == 0 {
		return problem.Detailf(problem.PaymentNotResolvable, "%d VND are less than a point", t.Amount)
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		now := s.clock.Now()
		m := Match{Transfer: transfer, Outcome: Resolved, Account: string(account), Points: points, SettledAt: now}
		if err := s.setOutcomeOfUnmatchedTx(ctx, tx, m); err != nil {
			return err
		}
		if _, err := s.CreditTx(ctx, tx, account, Topup, points, transfer, transfer); err != nil {
			return err
		}
		return insertAuditTx(ctx, tx, transfer, actionAccount, by, now)
	})
}

// Ignore settles an unmatched transfer without a credit. Unlike the other two it accepts transfers that could not be
// parsed and outgoing ones. Errors: payment.not_found, payment.not_resolvable.
func (s *Service) Ignore(ctx context.Context, transfer string, by Staff) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		now := s.clock.Now()
		if err := s.setOutcomeOfUnmatchedTx(ctx, tx, Match{Transfer: transfer, Outcome: Ignored, SettledAt: now}); err != nil {
			return err
		}
		return insertAuditTx(ctx, tx, transfer, actionIgnore, by, now)
	})
}

// resolve settles an unmatched transfer with the verdict of decide and writes the audit entry, in one transaction. decide may run several
// times (db.DB.Update). Errors: those of decide, payment.not_found, payment.not_resolvable.
func (s *Service) resolve(ctx context.Context, transfer, action string, by Staff, decide func(context.Context, *db.Tx, *Transfer) (verdict, error)) error {
	t, err := s.incomingTransfer(ctx, transfer)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := s.checkUnmatchedTx(ctx, tx, transfer); err != nil {
			return err
		}
		v, err := decide(ctx, tx, t)
		if err != nil {
			return err
		}
		if err := s.settleTx(ctx, tx, t, v, Unmatched); err != nil {
			return err
		}
		return insertAuditTx(ctx, tx, transfer, action, by, s.clock.Now())
	})
}

// incomingTransfer reads a transfer and checks that it is an incoming payment. Errors: payment.not_found, payment.not_resolvable.
func (s *Service) incomingTransfer(ctx context.Context, transfer string) (*Transfer, error) {
	if _, err := s.match(ctx, s.db, transfer); err != nil {
		return nil, err
	}
	t, err := s.transfers.Transfer(ctx, transfer)
	switch {
	case err != nil:
		return nil, err
	case t.Direction != In || t.Fault != "":
		return nil, problem.Detailf(problem.PaymentNotResolvable, "bank transaction %s is not an incoming payment: it can only be ignored", transfer)
	}
	return t, nil
}

// checkUnmatchedTx checks that a transfer is left for staff. Errors: payment.not_found, payment.not_resolvable. It
// rejects an Unseen transfer, since the next reconciliation may credit it automatically.
func (s *Service) checkUnmatchedTx(ctx context.Context, tx *db.Tx, transfer string) error {
	m, err := s.match(ctx, tx, transfer)
	switch {
	case err != nil:
		return err
	case m.Outcome == Unseen:
		return problem.Detailf(problem.PaymentNotResolvable, "bank transaction %s is not processed yet: a running service does that within seconds", transfer)
	case m.Outcome != Unmatched:
		return problem.Detailf(problem.PaymentNotResolvable, "bank transaction %s is %s already", transfer, m.Outcome)
	}
	return nil
}

// setOutcomeOfUnmatchedTx stores the outcome m of a transfer that is left for staff. Errors: payment.not_found,
// payment.not_resolvable.
func (s *Service) setOutcomeOfUnmatchedTx(ctx context.Context, tx *db.Tx, m Match) error {
	if err := s.checkUnmatchedTx(ctx, tx, m.Transfer); err != nil {
		return err
	}
	changed, err := setOutcomeTx(ctx, tx, m, Unmatched)
	if err == nil && !changed {
		err = problem.Detailf(problem.PaymentNotResolvable, "it was settled concurrently")
	}
	return err
}

// Adjust credits points to an account, or debits them if points is negative. The account sees the note in its ledger.
// The balance cannot become negative. Errors: request.invalid, for 0 or more than pointsMax points;
// wallet.insufficient_points.
func (s *Service) Adjust(ctx context.Context, account id.Account, points int64, by Staff) (entry *Entry, err error) {
	if points == 0 || points < -pointsMax || points > pointsMax {
		return nil, problem.Detailf(problem.RequestInvalid, "%d points cannot be booked", points)
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if entry, err = s.postTx(ctx, tx, Entry{Account: account, Kind: Adjustment, Amount: points, Note: by.Note}); err != nil {
			return err
		}
		return insertAuditTx(ctx, tx, string(entry.ID), actionAdjust, by, entry.CreatedAt)
	})
	return entry, err
}
