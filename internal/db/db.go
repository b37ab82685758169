// Package db implements the service's storage: SQLite in the data folder, written by group commit, or a PostgreSQL database that several
// processes share. Every write goes through Update and is on stable storage when Update returns nil. Reads use a separate pool of
// connections. The package contains the tables (migrations) but no statements on them: these are in the file sql.go of each domain.
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

// ErrUnavailable is wrapped by every error that is caused by the storage and not by the caller. The write did not happen, or it is not
// known whether it happened, and it can be retried.
var ErrUnavailable = errors.New("storage is unavailable")

// ErrClosed is returned by an Update after Close.
var ErrClosed = fmt.Errorf("database is closed: %w", ErrUnavailable)

// Queryer reads rows. A DB reads committed rows; a Tx also reads those that its own transaction has written.
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
	monitor    *monitor // of PostgreSQL; nil on SQLite, where reads use statements (pgx prepares statements itself)
	statements sync.Map // query text → *sql.Stmt on readers; the texts are constants of the program, so it is bounded
	migrations func() (*sql.DB, error)
	closeLast  func() error // is called at the end of Close; may be nil
}

// Options are the options of Open. The zero value is suitable for production.
type Options struct {
	Readers int // connections that read at the same time; 0: 8
	Writers int // transactions at the same time, on PostgreSQL; 0: 8

	// Timeout, on PostgreSQL, limits a read, including its wait for a connection, and each statement of an update; a whole update takes at
	// most 1.5 times as long. A server that does not respond is detected within this time. 0: 5 s.
	Timeout time.Duration
	// MaxWaiting, on PostgreSQL, is how many calls may wait for a connection or for their first result at the same time; further calls
	// fail with ErrUnavailable. 0: 10,000.
	MaxWaiting int
	// SharedWith, on PostgreSQL, is another DB on the same server, which must be opened before this one and closed after it. Both share Timeout,
	// MaxWaiting and the detection of a server that does not respond. It may be nil.
	SharedWith *DB

	Logger *slog.Logger // nil: slog.Default()

	// Space, on SQLite, reports when the disk is full, and keeps a reserve for updates that free space (see Freeing). It may be nil.
	Space Space

	// Unsynced, on SQLite, commits without fsync. It is for tests that commit often.
	Unsynced bool

	// Commit, unless nil, is called in place of each commit, and can do the commit by calling its argument. Tests use it to make the storage
	// fail, or to check the state before a commit.
	Commit func(commit func() error) error
}

// Open opens a database: PostgreSQL if target is a URL (postgres://…), otherwise the SQLite file at that path, which is created if it does
// not exist. Migrate must be called next.
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
	if o.MaxWaiting == 0 {
		o.MaxWaiting = waitingDefault
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

// Update runs fn in a transaction and returns when its writes are on stable storage. Apart from UpdateLocked and Bulk, it is the only way
// to write. If fn returns an error or panics, only its own writes are rolled back. fn must not call Update, and must be fast, since other
// updates wait for it. fn's context is not cancelled with ctx, since an interrupted statement would affect other updates of the same
// group; but if ctx ends before fn is started, Update returns the error of ctx without running fn.
//
// Updates are serializable. On PostgreSQL fn is run again after a conflict with another update, so each run must set its results anew (see
// Tx.Again).
func (d *DB) Update(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	return d.update(ctx, work{fn: fn})
}

// Abandonable returns a context for updates that nothing depends on: if the context ends, Update returns its error at once, although the
// update may be committed later. fn must not write to variables of the caller. Other updates on SQLite wait for the disk once they have begun,
// since their outcome would be unknown; on PostgreSQL each update is bounded by Options.Timeout.
func Abandonable(ctx context.Context) context.Context {
	return context.WithValue(ctx, abandonable{}, true)
}

type abandonable struct{}

// abandoned returns a channel that is closed when an update need no longer be waited for, or nil if it must be.
func abandoned(ctx context.Context) <-chan struct{} {
	if ctx.Value(abandonable{}) == nil {
		return nil
	}
	return ctx.Done()
}

// UpdateLocked is Update at the isolation level read committed, for a closure that locks each row it relies on before it reads it (FOR
// UPDATE on PostgreSQL, in an order common to all such closures). It avoids the retries of serializable transactions. If the connection is
// lost during the commit, done is called to find out from the stored data whether the transaction was committed; it may be nil.
func (d *DB) UpdateLocked(ctx context.Context, fn func(ctx context.Context, tx *Tx) error, done func(ctx context.Context, q Queryer) (bool, error)) error {
	return d.update(ctx, work{fn: fn, locks: true, done: done})
}

func (d *DB) update(ctx context.Context, w work) error {
	if ctx.Value(insideUpdate{}) != nil {
		return errors.New("db: Update called inside an Update")
	}
	return d.store.update(ctx, w)
}

// call runs a closure and turns a panic into an error.
func call(ctx context.Context, log *slog.Logger, fn func(context.Context, *Tx) error, tx *Tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			log.ErrorContext(ctx, "update panicked", "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("db: update panicked: %v", r)
		}
	}()
	return fn(ctx, tx)
}

// Engine returns the kind of database.
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
	return s.QueryContext(withoutCancel(ctx), args...)
}

// QueryRow reads one row with a prepared statement. Its Scan returns sql.ErrNoRows if there is none.
func (d *DB) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	if d.monitor != nil {
		return pgReaders{d.readers, d.monitor}.QueryRow(ctx, query, args...)
	}
	s, err := d.statement(ctx, query)
	if err != nil {
		return d.readers.QueryRowContext(ctx, query, args...) // carries the same error in the row
	}
	return s.QueryRowContext(withoutCancel(ctx), args...)
}

// withoutCancel returns a context that is not cancelled with ctx, unless ctx has ended already. A read of SQLite takes microseconds;
// watching its context would cost two goroutines.
func withoutCancel(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// Purge removes data that was deleted before the call from SQLite's files. Deleting overwrites the data in the database file, but the
// write-ahead log has earlier images of the pages until Purge has written the log back and truncated it. Other updates wait for
// some milliseconds. While a reader needs the log, part of it stays until a later call.
func (d *DB) Purge(ctx context.Context) error { return d.store.purge(ctx) }

// Ready returns an error unless the database can be read and written. It writes nothing, and returns by ctx's deadline.
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

// Abort makes all calls that wait for PostgreSQL fail, as well as all later calls, also those of databases opened with Options.SharedWith. It
// is for a shutdown that must not wait. On SQLite, where no call waits for another machine, it does nothing.
func (d *DB) Abort() {
	if d.monitor != nil {
		d.monitor.close()
	}
}

// Close waits for the updates that have been accepted, and closes the database.
func (d *DB) Close() error {
	err := errors.Join(d.store.close(), d.readers.Close())
	if d.closeLast != nil {
		err = errors.Join(err, d.closeLast())
	}
	return err
}

func (d *DB) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := d.statements.Load(query); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := d.readers.PrepareContext(ctx, stableLimits(query))
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	if other, loaded := d.statements.LoadOrStore(query, s); loaded {
		s.Close()
		return other.(*sql.Stmt), nil
	}
	return s, nil
}
