package db

import (
	"context"
	"database/sql"
)

// Engine is the kind of database behind a DB.
type Engine int

// The engines.
const (
	SQLite   Engine = iota // one file, one process
	Postgres               // a server that any number of processes share
)

// Per is a text that differs between the engines, for the few statements that cannot be the same.
type Per struct{ SQLite, Postgres string }

// On returns the text for an engine.
func (p Per) On(e Engine) string {
	if e == Postgres {
		return p.Postgres
	}
	return p.SQLite
}

// store is the writing side of an engine.
type store interface {
	update(ctx context.Context, u work) error
	ready(ctx context.Context) error  // returns an error unless updates are possible
	purge(ctx context.Context) error  // see DB.Purge
	shrink(ctx context.Context) error // see DB.Shrink
	full() bool                       // see DB.Full
	close() error                     // waits for accepted updates
}

// work is an update that is requested from a store.
type work struct {
	fn    func(context.Context, *Tx) error
	locks bool                                         // see UpdateLocked
	done  func(context.Context, Queryer) (bool, error) // see UpdateLocked; may be nil
}

// session is the connection of a transaction.
type session interface {
	exec(ctx context.Context, query string, args []any) (int64, error)
	queue(ctx context.Context, query string, args []any) error
	queueEach(ctx context.Context, query string, columns []Column) error
	query(ctx context.Context, query string, args []any) (*sql.Rows, error)
	queryRow(ctx context.Context, query string, args []any) *sql.Row
	engine() Engine
}

// insideUpdate is the key that marks the context of a closure, so that an Update inside an Update fails instead of deadlocking.
type insideUpdate struct{}
