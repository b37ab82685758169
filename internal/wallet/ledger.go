package wallet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Kind is what a ledger entry is for.
type Kind string

// The kinds of entry.
const (
	Topup        Kind = "topup"        // a payment
	Subscription Kind = "subscription" // a plan bought or renewed
	Adjustment   Kind = "adjustment"   // by staff
)

// Entry is an entry of an account's ledger. It never changes.
type Entry struct {
	ID           id.Transaction
	Account      id.Account
	Sequence     int64 // 1, 2, 3 … in each account
	Kind         Kind
	Amount       int64  // points, negative for a debit
	BalanceAfter int64  // points, never negative
	Reference    string // the order, bank transaction or subscription that it is for; may be empty
	Note         string // what staff noted, or in English what the next fields say
	Plan         string // the code of the plan that was paid for; ""
	Interval     string // monthly, yearly; "" without a plan
	Transfer     string // the bank transfer that was credited; ""
	CreatedAt    time.Time
}

// pointsMax bounds one entry, far above any price, so that a balance cannot overflow its column. At 10^12 points an
// entry, an int64 holds the sum of nine million of the largest ones.
const pointsMax = 1_000_000_000_000

// DebitTx debits points, a positive number, for a subscription from an account, in the caller's transaction. The entry
// becomes visible with the caller's commit, so that what the points pay for is stored with it or not at all. reference is the subscription,
// plan and interval are what it is to. Error: wallet.insufficient_points, whose detail says how many are missing.
func (s *Service) DebitTx(ctx context.Context, tx *db.Tx, account id.Account, points int64, reference, plan, interval string) error {
	if err := checkPoints(points); err != nil {
		return err
	}
	_, err := s.postTx(ctx, tx, Entry{
		Account: account, Kind: Subscription, Amount: -points, Reference: reference, Note: plan + ", " + interval, Plan: plan, Interval: interval,
	})
	return err
}

// CreditTx credits points, a positive number, to an account in the caller's transaction. A reference can be credited as
// a top-up only once: a second time violates a constraint of the database. The constraint prevents a payment from being
// credited twice even if a caller fails to check. transfer is the bank transfer that pays for the points; it may be empty.
func (s *Service) CreditTx(ctx context.Context, tx *db.Tx, account id.Account, kind Kind, points int64, reference, transfer string) (*Entry, error) {
	if err := checkPoints(points); err != nil {
		return nil, err
	}
	e := Entry{Account: account, Kind: kind, Amount: points, Reference: reference, Transfer: transfer}
	if transfer != "" {
		e.Note = "bank transfer " + transfer
	}
	return s.postTx(ctx, tx, e)
}

// checkPoints checks the number of points of a debit or a credit. An error here is a mistake of the calling package, not of
// a client, so it is not a problem with a code.
func checkPoints(points int64) error {
	if points <= 0 || points > pointsMax {
		return fmt.Errorf("wallet: %d points cannot be booked", points)
	}
	return nil
}

// postTx books an entry whose amount is not zero: it updates the balance, which gives the entry its number, and inserts
// the entry. The order matters: the update locks the wallet's row until the end of the transaction, so that concurrent
// entries of one account wait for each other and their numbers have no gaps.
//
// A debit of more points than the balance changes nothing. Error: wallet.insufficient_points.
func (s *Service) postTx(ctx context.Context, tx *db.Tx, e Entry) (*Entry, error) {
	now := s.clock.Now()
	e.ID, e.CreatedAt = id.New[id.Transaction](now), now
	statement := credit
	if e.Amount < 0 {
		statement = debit
	}
	err := tx.QueryRow(ctx, statement, e.Account, e.Amount).Scan(&e.BalanceAfter, &e.Sequence)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, insufficientPointsTx(ctx, tx, e.Account, -e.Amount)
	}
	if err != nil {
		return nil, fmt.Errorf("book %d points of %s: %w", e.Amount, e.Account, err)
	}
	if err := insertEntryTx(ctx, tx, &e); err != nil {
		return nil, fmt.Errorf("insert the entry of %d points of %s: %w", e.Amount, e.Account, err)
	}
	return &e, nil
}

// insufficientPointsTx returns wallet.insufficient_points for an account that has fewer points than needed. It reads the balance in
// the transaction of the failed debit, so that the numbers in the detail are consistent.
func insufficientPointsTx(ctx context.Context, tx *db.Tx, account id.Account, needed int64) error {
	balance, err := balance(ctx, tx, account)
	if err != nil {
		return err
	}
	return problem.Detailf(problem.WalletInsufficientPoints, "%d points are missing: %d are needed and the balance is %d", needed-balance, needed, balance)
}
