// Package db is the service's storage: SQLite in the data folder, written by group commit, or a PostgreSQL that processes
// share. Every write goes through Update and is on stable storage when Update returns nil; reads have a pool of their own.
// It knows no table but the migrations', and refuses to hide SQL: statements live in each domain's sql.go.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// ErrUnavailable is in the chain of every error that is the storage's fault and not the caller's: the write did
// not happen, or cannot be promised, and may be tried again.
var ErrUnavailable = errors.New("storage is unavailable")

// ErrClosed is the error of an Update after Close.
var ErrClosed = fmt.Errorf("database is closed: %w", ErrUnavailable)

// Queryer reads: a DB reads what is committed, a Tx also what its own transaction wrote.
type Queryer interface {
	Query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) *sql.Row
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	engine     Engine
	version    atomic.Int64 // of the schema, once Migrate has run
	store      store
	readers    *sql.DB
	monitor    *monitor // of PostgreSQL; nil: reads go through statements that are prepared here, and else the driver prepares them
	statements sync.Map // query text → *sql.Stmt on readers; the texts are constants of the program, so it is bounded
	migrations func() (*sql.DB, error)
	last       func() error // closes what must be closed last; nil: there is nothing
}

// Options of Open. The zero value is right for the service.
type Options struct {
	Readers int // connections that read at the same time; 0: 8
	Writers int // transactions at the same time, on PostgreSQL; 0: 8

	// Timeout, on PostgreSQL, bounds a read, with its wait for a connection, and each statement of an update; an update as a whole
	// takes half as long again at most. A server that answers nothing is found out within it. 0: 5 s.
	Timeout time.Duration
	// Waiting, on PostgreSQL, is how many calls may wait for a connection or for the first answer at the same time; one more
	// fails with ErrUnavailable. 0: 10,000.
	Waiting int
	// Beside is another DB of the same PostgreSQL server, opened before this one and closed after it, from which this one takes
	// Timeout and Waiting, and with which it shares what is known of the server; nil: there is none.
	Beside *DB

	Logger *slog.Logger // nil: slog.Default()

	// Space, on SQLite, tells when the disk is full, and keeps a reserve for updates that free space (see Freeing). nil: nobody tells.
	Space Space

	// Unsynced, on SQLite, leaves it to the system when commits reach the disk: for a test that waits for many and loses no power.
	Unsynced bool

	// Commit, where set, is called in place of each group's commit and decides whether commit happens: a test makes
	// the storage fail with it, or sees what had not been answered yet.
	Commit func(commit func() error) error
}

// Open opens a database: the PostgreSQL that a URL (postgres://…) names, else the SQLite database in the file at that path,
// which is made if it is missing. Migrate comes next.
func Open(ctx context.Context, target string, o Options) (*DB, error) {
	if o.Readers == 0 {
		o.Readers = 8
	}
	if o.Writers == 0 {
		o.Writers = 8
	}
	if o.Timeout == 0 {
		o.Timeout = timeoutDefault
	}
	if o.Waiting == 0 {
		o.Waiting = waitingDefault
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Commit == nil {
		o.Commit = func(commit func() error) error { return commit() }
	}
	if isURL(target) {
		return openPostgres(ctx, target, o)
	}
	return openSQLite(ctx, target, o)
}

// Update runs fn in a transaction and returns when what it wrote is on stable storage. It is the only way to write.
// An error or a panic of fn undoes its own writes and nobody else's. fn may not call Update, and may not do anything
// slow: it holds up others. fn's context is not cancelled with ctx, since a half-run statement would harm the group;
// a ctx that ends before fn's turn comes gives its error and fn is not run.
//
// Updates happen as if one came after the other. On PostgreSQL that takes running fn again where others did something
// meanwhile that does not go with it: fn sets what it hands out anew each time it is run (see Tx.Again).
func (d *DB) Update(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	return d.update(ctx, work{fn: fn})
}

// UpdateLocked is Update for a closure that locks each row it relies on before it reads it (FOR UPDATE on PostgreSQL, in an
// order that all keep), and so need not be undone where others read or write beside it. done tells afterwards, from
// what is stored, whether a run of fn was committed: it is asked where a connection is lost in the middle of the commit.
func (d *DB) UpdateLocked(ctx context.Context, fn func(ctx context.Context, tx *Tx) error, done func(ctx context.Context, q Queryer) (bool, error)) error {
	return d.update(ctx, work{fn: fn, locks: true, done: done})
}

func (d *DB) update(ctx context.Context, w work) error {
	if ctx.Value(inside{}) != nil {
		return errors.New("db: Update called inside an Update")
	}
	return d.store.update(ctx, w)
}

// call runs a closure and makes a panic of it an error.
func call(ctx context.Context, log *slog.Logger, fn func(context.Context, *Tx) error, tx *Tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			log.ErrorContext(ctx, "update panicked", "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("db: update panicked: %v", r)
		}
	}()
	return fn(ctx, tx)
}

// Engine is the kind of database.
func (d *DB) Engine() Engine { return d.engine }

// Query reads rows with a prepared statement.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if d.monitor != nil {
		return pgReaders{d.readers, d.monitor}.Query(ctx, query, args...)
	}
	s, err := d.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(unwatched(ctx), args...)
}

// QueryRow reads one row with a prepared statement; its Scan gives sql.ErrNoRows if there is none.
func (d *DB) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	if d.monitor != nil {
		return pgReaders{d.readers, d.monitor}.QueryRow(ctx, query, args...)
	}
	s, err := d.statement(ctx, query)
	if err != nil {
		return d.readers.QueryRowContext(ctx, query, args...) // carries the same error in the row
	}
	return s.QueryRowContext(unwatched(ctx), args...)
}

// unwatched is a context that ends with ctx only if it has ended already. A read of SQLite is over in microseconds; watching
// for an end within it costs two goroutines.
func unwatched(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// Purge removes from SQLite's files what was deleted and committed before the call. Deleting overwrites it in the database;
// the log still has earlier images of its pages until Purge has written the log back and truncated it. It keeps other
// updates waiting for some milliseconds. Where a reader still needs the log, some of it stays until a later call.
func (d *DB) Purge(ctx context.Context) error { return d.store.purge(ctx) }

// Ready reports whether the database can be read and written; it writes nothing. It answers by ctx's deadline.
func (d *DB) Ready(ctx context.Context) error {
	if err := d.store.ready(ctx); err != nil {
		return err
	}
	var one int
	err := d.QueryRow(ctx, "SELECT 1").Scan(&one)
	if Unavailable(err) && d.engine == Postgres {
		return errUnreachable
	}
	if err != nil {
		return fmt.Errorf("read the database: %w", err)
	}
	return nil
}

// Abort has every call of this database, and of those beside it, fail that waits for PostgreSQL, and all that come. It is for a
// stop that has to end. On SQLite, which keeps no call waiting for another machine, it does nothing.
func (d *DB) Abort() {
	if d.monitor != nil {
		d.monitor.close()
	}
}

// Close lets the updates that were accepted end and closes the database.
func (d *DB) Close() error {
	err := errors.Join(d.store.close(), d.readers.Close())
	if d.last != nil {
		err = errors.Join(err, d.last())
	}
	return err
}

func (d *DB) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := d.statements.Load(query); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := d.readers.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	if other, loaded := d.statements.LoadOrStore(query, s); loaded {
		s.Close()
		return other.(*sql.Stmt), nil
	}
	return s, nil
}
