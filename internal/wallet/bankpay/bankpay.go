// Package bankpay is the gateway of bank transfers: it keeps what the bank's callback tells, for good and as it came,
// reads it, and writes the VietQR that a payer scans. It has no way to credit anything: package wallet reconciles.
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

// Service is the store of bank transactions.
type Service struct {
	db       *db.DB
	clock    clock.Clock
	log      *slog.Logger
	appended func()
}

// New assembles the service; appended is called after each new transaction is on stable storage, must be quick, and may
// be nil.
func New(d *db.DB, c clock.Clock, l *slog.Logger, appended func()) *Service {
	return &Service{db: d, clock: c, log: l, appended: appended}
}

// Append keeps the body of a callback, once for each of the bank's identifiers. One that is there already is left as it
// is: the bank calls again when it did not hear that it was heard. Error: request.invalid for what is no JSON object or
// has no identifier.
func (s *Service) Append(ctx context.Context, body []byte) error {
	transaction, err := identify(body)
	if err != nil {
		return err
	}
	var differs bool
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
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
		s.log.WarnContext(ctx, "the bank told of a transaction again, with another body; the first is kept", "transaction", transaction)
	}
	return err
}

// identify is the bank's identifier of a transaction. Error: request.invalid.
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

// Transfer reads a transaction as wallet wants it.
func (s *Service) Transfer(ctx context.Context, transaction string) (*wallet.Transfer, error) {
	r, err := read(ctx, s.db, transaction)
	if err != nil {
		return nil, err
	}
	t := r.transfer()
	return &t, nil
}

// Body is what the bank told of a transaction, as it came.
func (s *Service) Body(ctx context.Context, transaction string) ([]byte, error) {
	r, err := read(ctx, s.db, transaction)
	return r.body, err
}
