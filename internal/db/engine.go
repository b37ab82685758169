package db

import (
	"context"
	"database/sql"
)

// Engine is the kind of database behind a DB.
type Engine int

// The engines there are.
const (
	SQLite   Engine = iota // one file, one process
	Postgres               // a server that any number of processes share
)

// Per is a text that has to differ between the engines: by exception, where one statement cannot serve both.
type Per struct{ SQLite, Postgres string }

// On is the text for an engine.
func (p Per) On(e Engine) string {
	if e == Postgres {
		return p.Postgres
	}
	return p.SQLite
}

// store is the writing side of an engine.
type store interface {
	update(ctx context.Context, u work) error
	ready(ctx context.Context) error  // reports whether it still takes updates
	purge(ctx context.Context) error  // see DB.Purge
	shrink(ctx context.Context) error // see DB.Shrink
	full() bool                       // see DB.Full
	close() error                     // lets what was accepted end
}

// work is what an update asks for.
type work struct {
	fn    func(context.Context, *Tx) error
	locks bool                                         // fn locks what it relies on by itself; see UpdateLocked
	done  func(context.Context, Queryer) (bool, error) // whether its commit happened, where that is in doubt; may be nil
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

// inside marks the context of a closure, to refuse an Update in an Update instead of waiting for oneself for ever.
type inside struct{}
