// Package bankpay implements the bank's side of top-ups: it stores the bodies of the bank's callbacks unchanged and
// permanently, parses them, and generates the VietQR code that a payer scans. It credits nothing: package wallet
// matches transfers with orders.
//
// Service.Append stores a callback, Service.Transfer returns it in the form that wallet works with, Gate authenticates
// the bank, and QR encodes what a payer scans. The bank repeats a callback until it gets a successful response, so
// Append is idempotent: the bank's identifier is the primary key. The parser is lenient, because the money has already
// moved, and rejecting a callback would only lose the report of it. A callback that cannot be parsed becomes a Transfer
// with a Fault, which staff settle.
package bankpay

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wallet"
)

// Service stores bank transactions. It is safe for concurrent use. It has no state in memory besides its dependencies.
type Service struct {
	db       *db.DB
	clock    clock.Clock
	log      *slog.Logger
	appended func()
}

// New returns a Service. appended is called after each new transaction is on stable storage; it must return quickly,
// and may be nil. On SQLite it is called on the goroutine that commits for all clients.
func New(d *db.DB, c clock.Clock, l *slog.Logger, appended func()) *Service {
	return &Service{db: d, clock: c, log: l, appended: appended}
}

// Append stores the body of a callback. It leaves a transaction that is already stored unchanged, since the bank repeats
// a callback if it did not get the response. It returns when the body is on stable storage, so that the caller may
// respond with success. Error: request.invalid, if the body is not a JSON object or has no identifier.
func (s *Service) Append(ctx context.Context, body []byte) error {
	transaction, err := identify(body)
	if err != nil {
		return err
	}
	var differs bool
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		// The closure runs again after a conflict, so the result of an earlier run must be reset.
		differs = false
		n, err := tx.Exec(ctx, insertTransaction, transaction, body, s.clock.Now().UnixMicro())
		if err != nil {
			return fmt.Errorf("append bank transaction %s: %w", transaction, err)
		}
		if n == 0 {
			first, err := read(ctx, tx, transaction)
			differs = err == nil && !bytes.Equal(first.body, body)
			return err
		}
		if s.appended != nil {
			tx.AfterCommit(s.appended)
		}
		return nil
	})
	if err == nil && differs {
		s.log.WarnContext(ctx, "the bank reported a transaction again with another body, keeping the first", "transaction", transaction)
	}
	return err
}

// identify returns the bank's identifier of a transaction, which every callback must have: without it a repeated
// callback could not be recognized and would be credited twice. Error: request.invalid.
func identify(body []byte) (string, error) {
	f, err := parseFields(body)
	if err != nil {
		return "", err
	}
	text, ok := f.identifier(fieldID)
	if !ok {
		return "", problem.Invalid("/id", "must be the transaction's number")
	}
	return text, nil
}

// Transfer returns a transaction as a wallet.Transfer, which it parses from the stored body. For an unknown
// transaction the error wraps sql.ErrNoRows.
func (s *Service) Transfer(ctx context.Context, transaction string) (*wallet.Transfer, error) {
	r, err := read(ctx, s.db, transaction)
	if err != nil {
		return nil, err
	}
	t := r.transfer()
	return &t, nil
}

// Body returns the unchanged body of a transaction's callback. For an unknown transaction the error wraps
// sql.ErrNoRows.
func (s *Service) Body(ctx context.Context, transaction string) ([]byte, error) {
	r, err := read(ctx, s.db, transaction)
	return r.body, err
}
