package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Error codes of PostgreSQL (its manual, appendix A) that are handled specially.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	uniqueViolation      = "23505"
	queryCanceled        = "57014"
	readOnlyTransaction  = "25006" // a standby, after a failover
	lockNotAvailable     = "55P03"
	diskFull             = "53100"
)

// faultClasses are the classes of codes for faults of the server: connection, resources, operator intervention, system, internal error.
const faultClasses = "08 53 57 58 XX"

// Unavailable reports whether an error of a read or a write is caused by the storage and not by the caller, so that a retry may succeed.
func Unavailable(err error) bool {
	if errors.Is(err, ErrUnavailable) || unanswered(err) || endedByServer(err) {
		return true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	return strings.Contains(faultClasses, e.Code[:min(2, len(e.Code))]) || e.Code == readOnlyTransaction || e.Code == lockNotAvailable
}

// unanswered reports whether err means that the server did not respond. The statement may or may not have been executed.
func unanswered(err error) bool {
	if _, answered := errors.AsType[*pgconn.PgError](err); answered || err == nil {
		return false
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, lost := range []error{driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, context.DeadlineExceeded} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return pgconn.SafeToRetry(err) // the connection was closed before
}

// endedByServer reports whether err means that the server ended the session or cancelled the statement. A commit may or may not have
// happened.
func endedByServer(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.SeverityUnlocalized == "FATAL" || e.SeverityUnlocalized == "PANIC" || e.Code == queryCanceled)
}

// timedOut reports whether err means that a statement took too long. A retry would probably take as long.
func timedOut(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == queryCanceled || errors.Is(err, context.DeadlineExceeded)
}

// isRetryable reports whether err is a serialization failure or a deadlock, so that running the transaction again may succeed. With locks,
// a unique violation is retryable, too: two transactions may insert the same row, which neither could lock before.
func isRetryable(err error, locks bool) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	return e.Code == serializationFailure || e.Code == deadlockDetected || locks && e.Code == uniqueViolation
}

// pgReaders runs reads outside of transactions, each within Options.Timeout.
type pgReaders struct {
	pool    *sql.DB
	monitor *monitor
}

// Query reads rows.
func (r pgReaders) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx = r.monitor.begin(ctx)
	defer r.monitor.end()
	return r.pool.QueryContext(ctx, query, bind(args)...)
}

// QueryRow reads one row.
func (r pgReaders) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = r.monitor.begin(ctx)
	defer r.monitor.end()
	return r.pool.QueryRowContext(ctx, query, bind(args)...)
}
