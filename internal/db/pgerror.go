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

// The codes of PostgreSQL (its manual, appendix A) that say more than that a statement is wrong.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	uniqueViolation      = "23505"
	queryCanceled        = "57014"
	readOnlyTransaction  = "25006" // a standby, after a failover
	lockNotAvailable     = "55P03"
	diskFull             = "53100"
)

// faults are the classes of codes that are the server's trouble: connection, resources, operator's intervention, system.
const faults = "08 53 57 58 XX"

// Unavailable reports whether an error of this package, of a read or of a write, is the storage's fault and not the caller's:
// trying again may help.
func Unavailable(err error) bool {
	if errors.Is(err, ErrUnavailable) || unanswered(err) || ended(err) {
		return true
	}
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	return strings.Contains(faults, said.Code[:min(2, len(said.Code))]) || said.Code == readOnlyTransaction || said.Code == lockNotAvailable
}

// unanswered reports whether the server did not answer, so that it may have done what it was told or not.
func unanswered(err error) bool {
	if _, said := errors.AsType[*pgconn.PgError](err); said || err == nil {
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

// ended reports whether the server ended the session with its answer: what it was doing may be done or not.
func ended(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (said.SeverityUnlocalized == "FATAL" || said.SeverityUnlocalized == "PANIC" || said.Code == queryCanceled)
}

// overdue reports whether a statement took longer than it may: the same would happen again.
func overdue(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && said.Code == queryCanceled || errors.Is(err, context.DeadlineExceeded)
}

// refused reports whether the same closure may succeed if it is run again, since only the company it was in was wrong.
// Two that lock may still make the same new row.
func refused(err error, locks bool) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	return said.Code == serializationFailure || said.Code == deadlockDetected || locks && said.Code == uniqueViolation
}

// pgReaders reads what is committed, each time within Options.Timeout.
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
