package db

import (
	"context"
	"database/sql"
	"fmt"
)

// Tx is one closure's part of a transaction. It is valid only inside the function it was given to.
type Tx struct {
	conn  *writeConn
	after []func()
}

// Exec writes and returns how many rows it touched.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := t.conn.statement(ctx, query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", verb(query), err)
	}
	return r.RowsAffected()
}

// Query reads rows inside the transaction. The rows must be closed before the next statement.
func (t *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := t.conn.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// QueryRow reads one row inside the transaction.
func (t *Tx) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := t.conn.statement(ctx, query)
	if err != nil {
		return t.conn.QueryRowContext(ctx, query, args...) // carries the same error in the row
	}
	return s.QueryRowContext(ctx, args...)
}

// AfterCommit has fn called once the transaction is on stable storage, before Update returns; never after a rollback.
// It is for wake-ups: fn must be quick and must not fail.
func (t *Tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }

// verb is the beginning of a statement, enough to find it by in an error.
func verb(query string) string {
	const enough = 60
	if len(query) > enough {
		return query[:enough] + "…"
	}
	return query
}
