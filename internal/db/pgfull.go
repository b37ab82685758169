package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// unavailable makes an error the storage's fault, and remembers where the server's disk is full.
func (p *postgres) unavailable(err error) error {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok && said.Code == diskFull {
		p.noRoom.Store(true)
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// room reports whether the server's disk, where it was full, still is: a table that nobody sees needs pages of its own.
func (p *postgres) room(ctx context.Context) error {
	if !p.noRoom.Load() {
		return nil
	}
	tx, err := p.writers.BeginTx(ctx, &sql.TxOptions{})
	if err != nil {
		return errUnreachable
	}
	defer func() { _ = tx.Rollback() }() // the table goes with the transaction
	for _, statement := range []string{
		"CREATE TEMPORARY TABLE room_probe (data TEXT) ON COMMIT DROP",
		"INSERT INTO room_probe SELECT repeat('x', 1000) FROM generate_series(1, 1000)",
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			p.log.WarnContext(ctx, "the database has no room", "error", err)
			return ErrFull
		}
	}
	p.noRoom.Store(false)
	return nil
}
