package move

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/gonebox/gonebox/internal/db"
)

// verify reads both sides anew, side by side, and makes sure that every row and every raw message is the same on both.
func (m *mover) verify(ctx context.Context) error {
	whole := sha256.New()
	for _, t := range tables() {
		if err := m.compareTable(ctx, t, whole); err != nil {
			return fmt.Errorf("verify %s: %w", t.name, err)
		}
	}
	m.report.Digest = sum(whole)
	return m.compareRaw(ctx)
}

// digest is verify of the source alone.
func (m *mover) digest(ctx context.Context) error {
	whole := sha256.New()
	for _, t := range tables() {
		s, err := m.shape(ctx, t)
		if err != nil {
			return err
		}
		source, err := m.open(ctx, s, m.source)
		if err != nil {
			return err
		}
		all := sha256.New()
		n, err := source.each(func(r row) error { all.Write(encode(r, s.ref)); return ctx.Err() })
		if err != nil {
			return fmt.Errorf("read %s: %w", t.name, err)
		}
		m.note(t.name, n, all, whole)
	}
	m.report.Digest = sum(whole)
	return nil
}

// note adds a table to the report.
func (m *mover) note(name string, rows int64, all, whole hash.Hash) {
	digest := sum(all)
	m.report.Tables = append(m.report.Tables, Table{Name: name, Rows: rows, Digest: digest})
	m.report.Rows += rows
	fmt.Fprintf(whole, "%s %d %s\n", name, rows, digest)
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// reader reads the rows of a table in the order of their keys.
type reader struct {
	shape
	rows  *sql.Rows
	carry func(row) row
}

func (m *mover) open(ctx context.Context, s shape, tx *db.Tx) (*reader, error) {
	rows, err := tx.Query(ctx, s.selectRows(s.columns)) //nolint:rowserrcheck // next does
	if err != nil {
		return nil, err
	}
	rd := &reader{shape: s, rows: rows, carry: func(r row) row { return r }}
	if tx == m.source {
		rd.carry = m.carried
	}
	return rd, nil
}

// next is the next row, or nil after the last.
func (rd *reader) next() (row, error) {
	if !rd.rows.Next() {
		return nil, rd.rows.Err()
	}
	r, err := rd.scan(rd.rows)
	if err != nil {
		return nil, err
	}
	return rd.carry(r), nil
}

// each hands over every row and closes the reader.
func (rd *reader) each(do func(row) error) (n int64, err error) {
	defer rd.rows.Close()
	for {
		r, err := rd.next()
		if err != nil || r == nil {
			return n, err
		}
		if err := do(r); err != nil {
			return n, err
		}
		n++
	}
}

// compareTable reads a table of both sides at once.
func (m *mover) compareTable(ctx context.Context, t table, whole hash.Hash) error {
	s, err := m.shape(ctx, t)
	if err != nil {
		return err
	}
	told, err := m.tell(ctx, Verify, t.name)
	if err != nil {
		return err
	}
	source, err := m.open(ctx, s, m.source)
	if err != nil {
		return err
	}
	target, err := m.open(ctx, s, m.target)
	if err != nil {
		return errors.Join(err, source.rows.Close())
	}
	defer target.rows.Close()
	all, at := sha256.New(), 0
	n, err := source.each(func(want row) error {
		at++
		got, err := target.next()
		if err != nil {
			return err
		}
		text := encode(want, s.ref)
		if got == nil || string(encode(got, s.ref)) != string(text) || !m.sameRef(s, want, got) {
			return fmt.Errorf("%w: row %d in the order of %s", ErrUnlike, at, s.key)
		}
		all.Write(text)
		told(1)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if more, err := target.next(); err != nil || more != nil {
		return errors.Join(err, fmt.Errorf("%w: there is more than was written", ErrUnlike))
	}
	if n == 0 {
		told(0)
	}
	m.note(t.name, n, all, whole)
	return nil
}

// sameRef reports whether a message of the target says that its raw message is where it was put.
func (m *mover) sameRef(s shape, want, got row) bool {
	expected, moved := m.moved(s, want)
	if !moved {
		expected = s.refOf(want)
	}
	return s.refOf(got) == expected
}

// encode writes the values of a row so that different rows are different texts on either engine, whose drivers tell text from
// octets differently. The column at leave is left out.
func encode(r row, leave int) []byte {
	var text []byte
	for i, v := range r {
		if i == leave {
			continue
		}
		switch v := v.(type) {
		case nil:
			text = append(text, 'n')
		case int64:
			text = binary.BigEndian.AppendUint64(append(text, 'i'), uint64(v))
		case string:
			text = append(binary.BigEndian.AppendUint64(append(text, 's'), uint64(len(v))), v...)
		case []byte:
			text = append(binary.BigEndian.AppendUint64(append(text, 's'), uint64(len(v))), v...)
		}
	}
	return text
}

// compareRaw reads every raw message that was moved from both sides.
func (m *mover) compareRaw(ctx context.Context) error {
	all := sha256.New()
	for _, ref := range slices.Sorted(maps.Keys(m.refs)) {
		want, err := m.from.RawMessages.Read(ctx, m.source, ref)
		if err != nil {
			return err
		}
		got, err := m.to.RawMessages.Read(ctx, m.target, m.refs[ref])
		if err != nil {
			return err
		}
		if string(got) != string(want) {
			return fmt.Errorf("%w: raw message %s", ErrUnlike, ref)
		}
		all.Write(encode(row{want}, -1))
		m.report.RawMessages.Count++
		m.report.RawMessages.Octets += int64(len(want))
	}
	m.report.RawMessages.Digest = sum(all)
	return nil
}
