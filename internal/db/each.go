package db

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

// Column holds the values of one parameter of a statement, one for each row.
type Column interface {
	rows() int
	value(row int) any
	kind() kind
	size(row int) int
	slice(from, to int) Column
	null(row int) bool
	appendTo(dst []byte, row int) []byte // a value in PostgreSQL's binary format, unless it is NULL
}

// kind is a PostgreSQL type.
type kind struct {
	name string
	oid  uint32
}

// Texts are values of a column of text.
type Texts []string

// Numbers are values of a column of whole numbers; flags are 0 and 1.
type Numbers []int64

// Octets are values of a column of octets. They must not change until the transaction has ended.
type Octets [][]byte

// OptionalOctets are Octets where nil stands for NULL.
type OptionalOctets [][]byte

func (c Texts) rows() int                           { return len(c) }
func (c Texts) null(int) bool                       { return false }
func (c Texts) value(row int) any                   { return c[row] }
func (c Texts) size(row int) int                    { return len(c[row]) }
func (c Texts) slice(from, to int) Column           { return c[from:to] }
func (c Texts) kind() kind                          { return kind{"text", pgtype.TextOID} }
func (c Texts) appendTo(dst []byte, row int) []byte { return append(dst, Storable(c[row])...) }

func (c Numbers) rows() int                 { return len(c) }
func (c Numbers) null(int) bool             { return false }
func (c Numbers) value(row int) any         { return c[row] }
func (c Numbers) size(int) int              { return 8 }
func (c Numbers) slice(from, to int) Column { return c[from:to] }
func (c Numbers) kind() kind                { return kind{"bigint", pgtype.Int8OID} }
func (c Numbers) appendTo(dst []byte, row int) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(c[row]))
}

func (c Octets) rows() int                           { return len(c) }
func (c Octets) null(int) bool                       { return false }
func (c Octets) value(row int) any                   { return c[row] }
func (c Octets) size(row int) int                    { return len(c[row]) }
func (c Octets) slice(from, to int) Column           { return c[from:to] }
func (c Octets) kind() kind                          { return kind{"bytea", pgtype.ByteaOID} }
func (c Octets) appendTo(dst []byte, row int) []byte { return append(dst, c[row]...) }

func (c OptionalOctets) rows() int                           { return len(c) }
func (c OptionalOctets) null(row int) bool                   { return c[row] == nil }
func (c OptionalOctets) size(row int) int                    { return len(c[row]) }
func (c OptionalOctets) slice(from, to int) Column           { return c[from:to] }
func (c OptionalOctets) kind() kind                          { return kind{"bytea", pgtype.ByteaOID} }
func (c OptionalOctets) appendTo(dst []byte, row int) []byte { return append(dst, c[row]...) }

func (c OptionalOctets) value(row int) any {
	if c[row] == nil {
		return nil
	}
	return c[row]
}

// QueueEach is Queue for many rows: it executes the statement for each row of columns, where $1 is the value of the first column. Each
// parameter must occur once, in the only row of VALUES at the end of the statement, or in the list of a SELECT:
//
//	INSERT INTO t (a, b) VALUES ($1, $2)
//	UPDATE t SET b = new.b FROM (SELECT $1 AS a, $2 AS b) AS new WHERE t.a = new.a
//
// On PostgreSQL this is one statement for all rows, or for as many as statementOctets allows, so that the effect for one row is not visible
// to the others. On SQLite it is one statement for each row.
func (t *Tx) QueueEach(ctx context.Context, query string, columns ...Column) error {
	rows := columns[0].rows()
	for _, c := range columns {
		if c.rows() != rows {
			return fmt.Errorf("db: %s: columns of %d and of %d rows", verb(query), rows, c.rows())
		}
	}
	if rows == 0 {
		return nil
	}
	return t.session.queueEach(ctx, query, columns)
}

// oneByOne calls do with the arguments of each row.
func oneByOne(columns []Column, do func(args []any) error) error {
	args := make([]any, len(columns))
	for row := range columns[0].rows() {
		for i, c := range columns {
			args[i] = c.value(row)
		}
		if err := do(args); err != nil {
			return err
		}
	}
	return nil
}

func (c *writeConn) queueEach(ctx context.Context, query string, columns []Column) error {
	return oneByOne(columns, func(args []any) error { return c.queue(ctx, query, args) })
}

// forceGenericPlan makes PostgreSQL reuse one plan per statement and connection for the rest of a transaction. Otherwise it plans a
// statement for many rows each time, which takes longer than executing it for a dozen. It is not set for other transactions: statements
// that look for expired rows use an index only when they are planned for the actual values.
//
// Such a transaction finds its rows by keys. While a table is small, PostgreSQL would read all of it instead, with the versions of its rows
// that are dead.
const forceGenericPlan = "SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)"

func (s *pgSession) queueEach(ctx context.Context, query string, columns []Column) error {
	if !s.generic {
		s.generic = true
		if err := s.enqueue(ctx, queued{text: forceGenericPlan}); err != nil {
			return err
		}
	}
	text := s.each.text(query, columns)
	for columns, octets := range batches(columns, statementOctets) {
		if err := s.enqueue(ctx, queued{text: text, columns: columns, octets: octets}); err != nil {
			return err
		}
	}
	return nil
}

// statementOctets limits the values of one statement for many rows. PostgreSQL rejects a message of 1 GiB, and both sides hold several
// copies of a statement in memory; a larger limit saves no time.
const statementOctets = 4 << 20

// batches splits columns into batches of consecutive rows whose values take at most limit octets, and yields each batch with its size. A
// row that is larger is a batch of its own.
func batches(columns []Column, limit int) iter.Seq2[[]Column, int] {
	return func(yield func([]Column, int) bool) {
		from, octets := 0, 0
		for row := range columns[0].rows() {
			size := 0
			for _, c := range columns {
				size += c.size(row)
			}
			if row > from && octets+size > limit {
				if !yield(slice(columns, from, row), octets) {
					return
				}
				from, octets = row, 0
			}
			octets += size
		}
		yield(slice(columns, from, columns[0].rows()), octets)
	}
}

// slice returns the rows [from, to) of columns.
func slice(columns []Column, from, to int) []Column {
	if from == 0 && to == columns[0].rows() {
		return columns
	}
	part := make([]Column, len(columns))
	for i, c := range columns {
		part[i] = c.slice(from, to)
	}
	return part
}

// arrayStatements caches statements for many rows in the form for PostgreSQL. The texts are constants of the program, so their number is
// bounded.
type arrayStatements struct{ known sync.Map }

// text returns the statement with arrays as parameters, one for each column, which it unnests to rows.
func (e *arrayStatements) text(query string, columns []Column) string {
	if text, ok := e.known.Load(query); ok {
		return text.(string)
	}
	text := query
	if before, values, ok := strings.Cut(query, "VALUES ("); ok {
		text = before + "SELECT " + strings.TrimSuffix(values, ")")
	}
	for i := len(columns); i > 0; i-- { // from the last: $1 is also the beginning of $10
		number := strconv.Itoa(i)
		text = strings.ReplaceAll(text, "$"+number, "unnest(CAST(\x00"+number+" AS "+columns[i-1].kind().name+"[]))")
	}
	text = strings.ReplaceAll(text, "\x00", "$")
	e.known.Store(query, text)
	return text
}
