package move

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/raw"
)

// A batch is what is written at once.
const (
	batchRows   = 512
	batchOctets = 8 << 20
)

// reportEvery is how many rows are passed over between two words of progress.
const reportEvery = 100_000

// keptPer is what retention is rounded up to, or more where it is long, so that raw messages share some hundred files.
const (
	keptPer   = 10 * time.Second
	keptFiles = 360
)

// class is how long a raw message is kept that may be read for left.
func class(left time.Duration) time.Duration {
	per := (left / keptFiles).Truncate(keptPer) + keptPer
	return left.Truncate(per) + per
}

// row is the values of a row, in the order of its table's columns: nil, int64, string or []byte.
type row []any

// shape is how rows of a table are read and written.
type shape struct {
	table
	columns     []string
	ref, refEnd int // where those columns of a message are; else -1
}

// shape looks at the columns of a table, which must be the same on both sides.
func (m *mover) shape(ctx context.Context, t table) (shape, error) {
	s := shape{table: t, ref: -1, refEnd: -1}
	there, err := columns(ctx, m.target, t.name)
	if err != nil {
		return s, err
	}
	if s.columns, err = columns(ctx, m.source, t.name); err != nil {
		return s, err
	}
	if !slices.Equal(slices.Sorted(slices.Values(s.columns)), slices.Sorted(slices.Values(there))) {
		return s, fmt.Errorf("it has the columns %v on one side and %v on the other", s.columns, there)
	}
	if t.name == messages {
		s.ref, s.refEnd = slices.Index(s.columns, refColumn), slices.Index(s.columns, refEndColumn)
	}
	return s, nil
}

func columns(ctx context.Context, q db.Queryer, name string) ([]string, error) {
	rows, err := q.Query(ctx, selectNothing(name))
	if err != nil {
		return nil, fmt.Errorf("look at table %s: %w", name, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	return names, errors.Join(err, rows.Err())
}

// copyTable writes every row of a table of the source to the target.
func (m *mover) copyTable(ctx context.Context, t table) error {
	s, err := m.shape(ctx, t)
	if err != nil {
		return err
	}
	told, err := m.tell(ctx, Copy, t.name)
	if err != nil {
		return err
	}
	rows, err := m.source.Query(ctx, s.selectRows(s.columns))
	if err != nil {
		return err
	}
	defer rows.Close()
	var b batch
	for rows.Next() {
		r, err := s.scan(rows)
		if err != nil {
			return err
		}
		b.add(m.carried(r))
		if b.full() {
			if err := errors.Join(m.write(ctx, s, b.rows), ctx.Err()); err != nil {
				return err
			}
			told(len(b.rows))
			b = batch{}
		}
	}
	if err := errors.Join(rows.Err(), m.write(ctx, s, b.rows)); err != nil {
		return err
	}
	told(len(b.rows))
	return nil
}

// tell returns what is told of each batch of rows; it passes on the first, the last and every so many.
func (m *mover) tell(ctx context.Context, step Step, name string) (told func(rows int), err error) {
	p := Progress{Step: step, Table: name}
	if p.Of, err = count(ctx, m.source, name); err != nil {
		return nil, err
	}
	return func(rows int) {
		before := p.Rows
		p.Rows += int64(rows)
		if p.Rows == p.Of || before/reportEvery < p.Rows/reportEvery {
			m.o.Progress(p)
		}
	}, nil
}

// batch collects rows.
type batch struct {
	rows   []row
	octets int
}

func (b *batch) add(r row) {
	b.rows = append(b.rows, r)
	for _, v := range r {
		switch v := v.(type) {
		case string:
			b.octets += len(v)
		case []byte:
			b.octets += len(v)
		}
	}
}

func (b *batch) full() bool { return len(b.rows) >= batchRows || b.octets >= batchOctets }

// scan reads the present row.
func (s shape) scan(rows *sql.Rows) (row, error) {
	r, dest := make(row, len(s.columns)), make([]any, len(s.columns))
	for i := range r {
		dest[i] = &r[i]
	}
	if err := rows.Scan(dest...); err != nil {
		return nil, err
	}
	for i, v := range r {
		switch v := v.(type) {
		case nil, int64, string:
		case []byte:
			if v == nil { // what the driver of SQLite makes of no octets; a NULL is nil itself
				r[i] = []byte{}
			}
		default:
			return nil, fmt.Errorf("column %s has a %T", s.columns[i], v)
		}
	}
	return r, nil
}

// carried gives the values of a row of the source the form that they have in the target.
func (m *mover) carried(r row) row {
	for i, v := range r {
		text, ok := v.(string)
		if kept := m.target.Engine().Text(text); ok && kept != text {
			r[i] = kept
			m.replaced++
		}
	}
	return r
}

// write keeps the raw messages of rows and inserts the rows. The last statement is one that waits for those before it, which
// bounds how much is under way.
func (m *mover) write(ctx context.Context, s shape, rows []row) error {
	if s.ref >= 0 {
		if err := m.moveRaw(ctx, s, rows); err != nil {
			return err
		}
	}
	insert := s.insert(s.columns)
	for i, r := range rows {
		if ref, ok := m.moved(s, r); ok {
			r[s.ref] = string(ref)
		}
		if i < len(rows)-1 {
			if err := m.target.Queue(ctx, insert, r...); err != nil {
				return err
			}
		} else if _, err := m.target.Exec(ctx, insert, r...); err != nil {
			return err
		}
	}
	return nil
}

// refOf is where a row says its raw message is; "": it has none.
func (s shape) refOf(r row) raw.Ref {
	if s.ref < 0 {
		return ""
	}
	text, _ := r[s.ref].(string)
	return raw.Ref(text)
}

// left is how much longer the raw message may be read.
func (m *mover) left(s shape, r row) time.Duration {
	until, _ := r[s.refEnd].(int64)
	return time.UnixMicro(until).Sub(m.o.Now)
}

// moved is where the raw message was put; ok is false where it stayed behind.
func (m *mover) moved(s shape, r row) (ref raw.Ref, ok bool) {
	if s.ref < 0 || m.left(s, r) <= 0 {
		return "", false
	}
	ref, ok = m.refs[s.refOf(r)]
	return ref, ok
}

// moveRaw keeps anew the raw messages, where they may still be read; refs then tells where they are.
func (m *mover) moveRaw(ctx context.Context, s shape, rows []row) error {
	var kept []raw.Ref
	var records []raw.Record
	octets := 0
	for _, r := range rows {
		ref, left := s.refOf(r), m.left(s, r)
		if _, done := m.refs[ref]; done || left <= 0 || slices.Contains(kept, ref) {
			continue
		}
		content, err := m.from.RawMessages.Read(ctx, m.source, ref)
		if errors.Is(err, raw.ErrGone) || errors.Is(err, raw.ErrDamaged) {
			m.report.RawMessages.Gone++ // as for who asks for it
			continue
		}
		if err != nil {
			return err
		}
		kept = append(kept, ref)
		records = append(records, raw.Record{Class: class(left), Data: raw.CompressChunks(nil, content)})
		if octets += len(content); octets >= batchOctets {
			if err := m.keep(ctx, kept, records); err != nil {
				return err
			}
			kept, records, octets = nil, nil, 0
		}
	}
	return m.keep(ctx, kept, records)
}

func (m *mover) keep(ctx context.Context, kept []raw.Ref, records []raw.Record) error {
	if len(records) == 0 {
		return nil
	}
	refs, err := m.to.RawMessages.KeepTx(ctx, m.target, m.o.Now, records)
	if err != nil {
		return fmt.Errorf("keep %d raw messages: %w", len(records), err)
	}
	for i, ref := range refs {
		m.refs[kept[i]] = ref
	}
	return nil
}
