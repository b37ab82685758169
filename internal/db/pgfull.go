package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// unavailable wraps an error in ErrUnavailable, or in ErrFull where the server's disk is full, which it also records for checkDisk.
func (p *postgres) unavailable(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == diskFull {
		p.diskFull.Store(true)
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// checkDisk returns ErrFull while the server's disk is full. Only after a write has failed because of a full disk does it check that, by
// filling a temporary table of 1 MB, which needs new pages, and dropping it.
func (p *postgres) checkDisk(ctx context.Context) error {
	if !p.diskFull.Load() {
		return nil
	}
	tx, err := p.writers.BeginTx(ctx, &sql.TxOptions{})
	if err != nil {
		return errUnreachable
	}
	defer func() { _ = tx.Rollback() }() // the table goes with the transaction
	for _, statement := range []string{
		"CREATE TEMPORARY TABLE disk_probe (data TEXT) ON COMMIT DROP",
		"INSERT INTO disk_probe SELECT repeat('x', 1000) FROM generate_series(1, 1000)",
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			p.log.WarnContext(ctx, "the disk of the database is still full", "error", err)
			return ErrFull
		}
	}
	p.diskFull.Store(false)
	return nil
}
