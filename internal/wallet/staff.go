package wallet

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Staff is who does something by hand, and why. Both are kept with it for good.
type Staff struct{ Name, Note string }

// What staff can do, as the audit names it.
const (
	actionAdjust  = "adjust"
	actionOrder   = "order"
	actionAccount = "account"
	actionIgnore  = "ignore"
)

// Matches lists bank transfers, newest first, behind the one named after (""; from the newest on), at most max: all, or
// those that are left for staff.
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

// Match is what has become of a transfer. The error says that there is none of that identifier.
func (s *Service) Match(ctx context.Context, transfer string) (*Match, error) {
	return s.match(ctx, s.db, transfer)
}

func (s *Service) match(ctx context.Context, q db.Queryer, transfer string) (*Match, error) {
	m, err := matchOf(ctx, q, transfer)
	if err == nil && m == nil {
		err = fmt.Errorf("there is no bank transaction %s", transfer)
	}
	return m, err
}

// ResolveByOrder has an unmatched transfer pay an order whose amount it has, whatever its text says and however late it
// came, which credits the order's points.
func (s *Service) ResolveByOrder(ctx context.Context, transfer string, order id.Order, by Staff) error {
	return s.resolve(ctx, transfer, actionOrder, by, func(ctx context.Context, tx *db.Tx, t *Transfer) (verdict, error) {
		o, err := orderBy(ctx, tx, selectOrder, order)
		switch {
		case err != nil:
			return verdict{}, err
		case o == nil:
			return verdict{}, fmt.Errorf("there is no order %s", order)
		case !o.PaidAt.IsZero():
			return verdict{}, fmt.Errorf("order %s is paid already; credit the transfer to the account instead", order)
		case o.Amount != t.Amount:
			return verdict{}, fmt.Errorf("order %s is over %d VND and the transfer over %d; credit the transfer to the account instead", order, o.Amount, t.Amount)
		}
		return verdict{Resolved, "", o}, nil
	})
}

// ResolveToAccount credits what an unmatched transfer is worth to an account, in whole points; no order is paid.
func (s *Service) ResolveToAccount(ctx context.Context, transfer string, account id.Account, by Staff) error {
	t, err := s.incoming(ctx, transfer)
	if err != nil {
		return err
	}
	points := t.Amount / s.policy.VNDPerPoint
	if points == 0 {
		return fmt.Errorf("%d VND are less than a point", t.Amount)
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		now := s.clock.Now()
		m := Match{Transfer: transfer, Outcome: Resolved, Account: string(account), Points: points, SettledAt: now}
		if err := s.closeByHandTx(ctx, tx, m); err != nil {
			return err
		}
		if _, err := s.CreditTx(ctx, tx, account, Topup, points, transfer, transferNote(transfer)); err != nil {
			return err
		}
		return insertAuditTx(ctx, tx, transfer, actionAccount, by, now)
	})
}

// Ignore settles an unmatched transfer for which nothing is to be credited.
func (s *Service) Ignore(ctx context.Context, transfer string, by Staff) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		now := s.clock.Now()
		if err := s.closeByHandTx(ctx, tx, Match{Transfer: transfer, Outcome: Ignored, SettledAt: now}); err != nil {
			return err
		}
		return insertAuditTx(ctx, tx, transfer, actionIgnore, by, now)
	})
}

// resolve settles an unmatched transfer by what decide says of it.
func (s *Service) resolve(ctx context.Context, transfer, action string, by Staff, decide func(context.Context, *db.Tx, *Transfer) (verdict, error)) error {
	t, err := s.incoming(ctx, transfer)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := s.openByHandTx(ctx, tx, transfer); err != nil {
			return err
		}
		v, err := decide(ctx, tx, t)
		if err != nil {
			return err
		}
		if err := s.carryOutTx(ctx, tx, t, v, Unmatched); err != nil {
			return err
		}
		return insertAuditTx(ctx, tx, transfer, action, by, s.clock.Now())
	})
}

// incoming reads a transfer that can be credited.
func (s *Service) incoming(ctx context.Context, transfer string) (*Transfer, error) {
	if _, err := s.match(ctx, s.db, transfer); err != nil {
		return nil, err
	}
	t, err := s.transfers.Transfer(ctx, transfer)
	switch {
	case err != nil:
		return nil, err
	case t.Direction != In || t.Fault != "":
		return nil, fmt.Errorf("bank transaction %s tells of no money that came in: it can be ignored alone", transfer)
	}
	return t, nil
}

// openByHandTx checks that a transfer is left for staff.
func (s *Service) openByHandTx(ctx context.Context, tx *db.Tx, transfer string) error {
	m, err := s.match(ctx, tx, transfer)
	switch {
	case err != nil:
		return err
	case m.Outcome == Unseen:
		return fmt.Errorf("bank transaction %s was not looked at yet: a running service does that within seconds", transfer)
	case m.Outcome != Unmatched:
		return fmt.Errorf("bank transaction %s is %s already", transfer, m.Outcome)
	}
	return nil
}

func (s *Service) closeByHandTx(ctx context.Context, tx *db.Tx, m Match) error {
	if err := s.openByHandTx(ctx, tx, m.Transfer); err != nil {
		return err
	}
	done, err := closeTx(ctx, tx, m, Unmatched)
	if err == nil && !done {
		err = errors.New("it was settled at the same moment")
	}
	return err
}

// Adjust gives points to an account by hand, or takes them where points is below zero. The account sees the note in its
// ledger. Error: wallet.insufficient_points.
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
