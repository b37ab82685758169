package db

import (
	"context"
	"database/sql"
)

// Tx is one closure's part of a transaction. It is valid only inside the function it was given to.
type Tx struct {
	session session
	after   []func()
	again   bool
}

// Exec writes and returns how many rows it touched.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return t.session.exec(ctx, query, args)
}

// Queue writes, where nobody asks how many rows that touches. On PostgreSQL the statement travels together with those that
// are queued before and after it, so that a set of them costs one round trip; what is wrong with it is then told by a
// later statement, or by the commit. On SQLite it is Exec.
func (t *Tx) Queue(ctx context.Context, query string, args ...any) error {
	return t.session.queue(ctx, query, args)
}

// Query reads rows inside the transaction. The rows must be closed before the next statement.
func (t *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return t.session.query(ctx, query, args)
}

// QueryRow reads one row inside the transaction.
func (t *Tx) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return t.session.queryRow(ctx, query, args)
}

// AfterCommit has fn called once the transaction is on stable storage, before Update returns; never after a rollback.
// It is for wake-ups: fn must be quick and must not fail.
func (t *Tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }

// Again reports that this closure has been run before, and undone: PostgreSQL refused what it did, because others did
// something that did not go with it. What a closure counts outside the database it counts the first time only.
func (t *Tx) Again() bool { return t.again }

// Engine is the kind of database.
func (t *Tx) Engine() Engine { return t.session.engine() }

// verb is the beginning of a statement, enough to find it by in an error.
func verb(query string) string {
	const enough = 60
	if len(query) > enough {
		return query[:enough] + "…"
	}
	return query
}
