package db

import (
	"context"
	"database/sql"
)

// Tx is a transaction, or on SQLite one update's part of a transaction. It is valid only until the closure of the update returns.
type Tx struct {
	session session
	after   []func()
	again   bool
}

// Exec executes a statement and returns the number of affected rows.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return t.session.exec(ctx, query, args)
}

// Queue executes a statement without returning the number of affected rows. On PostgreSQL the statement is sent together with the others
// that are queued, at the latest with the next Exec, query or commit, which then returns its error. On SQLite it is Exec.
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

// AfterCommit registers fn to be called once the transaction is on stable storage, before Update returns. fn is not called after a rollback.
// It must be fast, since on SQLite it runs on the writer's goroutine. It is meant for waking other goroutines.
func (t *Tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }

// Again reports whether this closure has been run before and was rolled back, because of a conflict with another transaction or a full disk. A
// closure that counts something outside the database should do so only if Again is false.
func (t *Tx) Again() bool { return t.again }

// Engine returns the kind of database.
func (t *Tx) Engine() Engine { return t.session.engine() }

// verb returns the beginning of a statement, which identifies the statement in an error.
func verb(query string) string {
	const enough = 60
	if len(query) > enough {
		return query[:enough] + "…"
	}
	return query
}
