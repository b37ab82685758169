package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// pgSession is a transaction's connection to PostgreSQL.
type pgSession struct {
	conn    *sql.Conn
	each    *arrayStatements
	buffers *buffers
	opening []string // the statements that begin the transaction; see the function opening
	begun   bool
	xid     string // the identifier of the transaction, if opening selects it
	pending []queued
	octets  int   // size of the values in pending
	generic bool  // forceGenericPlan was queued
	failed  error // the error of the first failed statement, after which PostgreSQL rejects all others of the transaction
}

func (p *postgres) session(conn *sql.Conn) *pgSession {
	return &pgSession{conn: conn, each: &p.each, buffers: &p.buffers}
}

func (*pgSession) engine() Engine { return Postgres }

func (s *pgSession) exec(ctx context.Context, query string, args []any) (int64, error) {
	if err := s.flush(ctx); err != nil {
		return 0, err
	}
	r, err := s.conn.ExecContext(ctx, query, bind(args)...)
	if err != nil {
		return 0, s.fail(query, err)
	}
	return r.RowsAffected()
}

func (s *pgSession) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	rows, err := s.conn.QueryContext(ctx, query, bind(args)...)
	if err != nil {
		return nil, s.fail(query, err)
	}
	return rows, nil
}

func (s *pgSession) queryRow(ctx context.Context, query string, args []any) *sql.Row {
	_ = s.flush(ctx) // after a failure this query fails as well, and transact returns s.failed
	return s.conn.QueryRowContext(ctx, query, bind(args)...)
}

// Limits at which queued statements are sent: their number, and the octets of their arguments.
const (
	queueMax    = 1024
	queueOctets = statementOctets
)

func (s *pgSession) queue(ctx context.Context, query string, args []any) error {
	if s.failed != nil {
		return s.failed
	}
	bound := bind(args)
	return s.enqueue(ctx, queued{text: query, args: bound, octets: octetsOf(bound)})
}

// octetsOf returns the approximate number of octets that are sent for arguments.
func octetsOf(bound []any) (octets int) {
	for _, arg := range bound {
		switch v := arg.(type) {
		case string:
			octets += len(v)
		case []byte:
			octets += len(v)
		default:
			octets += 8
		}
	}
	return octets
}

// enqueue queues a statement. If the queue would exceed its limits, it first sends the statements in the queue.
func (s *pgSession) enqueue(ctx context.Context, q queued) error {
	if s.failed != nil {
		return s.failed
	}
	if len(s.pending) >= queueMax || len(s.pending) > 0 && s.octets+q.octets > queueOctets {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	s.pending, s.octets = append(s.pending, q), s.octets+q.octets
	return nil
}

// flush begins the transaction if necessary, and sends the queued statements.
func (s *pgSession) flush(ctx context.Context) error {
	if s.failed != nil || s.begun && len(s.pending) == 0 {
		return s.failed
	}
	var opening []string
	if !s.begun {
		opening = s.opening
	}
	number, err := s.pipeline(ctx, opening, s.take())
	if err != nil {
		if s.failed == nil {
			s.failed = err
		}
		return err
	}
	if !s.begun && len(number.Rows) > 0 {
		s.xid = string(number.Rows[0][0])
	}
	s.begun = true
	return nil
}

// take returns the queued statements, and empties the queue.
func (s *pgSession) take() []queued {
	statements := s.pending
	s.pending, s.octets = nil, 0
	return statements
}

// discard returns nil. It is for the error of a Close that repeats an earlier error.
func discard(error) error { return nil }

func (s *pgSession) fail(query string, err error) error {
	err = fmt.Errorf("%s: %w", verb(query), err)
	if s.failed == nil {
		s.failed = err
	}
	return err
}

// raw calls use with the driver's own connection.
func (s *pgSession) raw(use func(*pgx.Conn) error) error {
	return s.conn.Raw(func(driver any) error { return use(driver.(*stdlib.Conn).Conn()) })
}

// undo rolls the transaction back after an error. It returns the error of the first failed statement, even if the closure ignored it.
func (s *pgSession) undo(ctx context.Context, err error) error {
	s.rollBack(ctx)
	if s.failed != nil && !errors.Is(err, s.failed) {
		return fmt.Errorf("%w: %w", s.failed, err)
	}
	return err
}

// rollBack rolls the transaction back. If that fails, the connection is broken and will not be used again, so the error is ignored.
func (s *pgSession) rollBack(ctx context.Context) {
	_ = s.raw(func(c *pgx.Conn) error { return c.PgConn().Exec(ctx, "ROLLBACK").Close() })
}

// bind converts arguments for PostgreSQL: a bool becomes 0 or 1, and NUL and invalid UTF-8 in text become U+FFFD, as in JSON. A look-up of
// such a text therefore finds nothing instead of failing.
func bind(args []any) []any {
	bound := make([]any, len(args))
	for i, arg := range args {
		bound[i] = bindOne(arg)
	}
	return bound
}

func bindOne(arg any) any {
	switch v := arg.(type) {
	case nil, []byte, int64, int:
		return v
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case string:
		return Storable(v)
	}
	if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
		return Storable(v.String())
	}
	return arg
}

// Storable returns a text with U+FFFD in place of NUL and invalid UTF-8, which is what every engine can store and what JSON contains.
func Storable(text string) string {
	if strings.IndexByte(text, 0) < 0 && utf8.ValidString(text) {
		return text
	}
	const replacement = string(utf8.RuneError)
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", replacement), replacement)
}
