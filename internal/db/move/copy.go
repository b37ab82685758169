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

// Bounds of a batch of rows.
const (
	batchRows   = 512
	batchOctets = 8 << 20
)

// reportEvery is the number of rows between two reports of progress.
const reportEvery = 100_000

// Retention is rounded up to a multiple of keptPer, or of more where it is long, so that the raw messages share some keptFiles files.
const (
	keptPer   = 10 * time.Second
	keptFiles = 360
)

// class returns the retention class of a raw message that may be read for another left.
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
	ref, refEnd int // indexes of these columns of message; -1 for other tables
}

// shape returns the columns of a table, which must be the same on both sides.
func (m *mover) shape(ctx context.Context, t table) (shape, error) {
	s := shape{table: t, ref: -1, refEnd: -1}
	target, err := columns(ctx, m.target, t.name)
	if err != nil {
		return s, err
	}
	if s.columns, err = columns(ctx, m.source, t.name); err != nil {
		return s, err
	}
	if !slices.Equal(slices.Sorted(slices.Values(s.columns)), slices.Sorted(slices.Values(target))) {
		return s, fmt.Errorf("it has the columns %v on one side and %v on the other", s.columns, target)
	}
	if t.name == messages {
		s.ref, s.refEnd = slices.Index(s.columns, refColumn), slices.Index(s.columns, refEndColumn)
	}
	return s, nil
}

func columns(ctx context.Context, q db.Queryer, name string) ([]string, error) {
	rows, err := q.Query(ctx, selectNoRows(name))
	if err != nil {
		return nil, fmt.Errorf("read the columns of %s: %w", name, err)
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
	progress, err := m.progress(ctx, Copy, t.name)
	if err != nil {
		return err
	}
	var b batch
	write := func() error {
		if err := m.write(ctx, s, b.rows); err != nil {
			return err
		}
		progress(len(b.rows))
		b = batch{}
		return nil
	}
	if _, err := s.each(ctx, m.source, func(r row) error {
		if b.add(m.convert(r)); b.full() {
			return write()
		}
		return nil
	}); err != nil {
		return err
	}
	return write()
}

// each calls do for every row of a table, in the order of its keys, until do or ctx fails, and returns the number of rows.
func (s shape) each(ctx context.Context, tx *db.Tx, do func(row) error) (n int64, err error) {
	rows, err := tx.Query(ctx, s.selectRows(s.columns))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		r, err := s.scan(rows)
		if err == nil {
			err = errors.Join(do(r), ctx.Err())
		}
		if err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}

// progress returns a function to be called with each number of rows that was processed. It passes on the first call, the last, and one
// in every reportEvery rows.
func (m *mover) progress(ctx context.Context, step Step, name string) (add func(rows int), err error) {
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

// scan reads the current row.
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
			if v == nil { // SQLite's driver returns a nil slice for an empty blob, and nil for NULL
				r[i] = []byte{}
			}
		default:
			return nil, fmt.Errorf("column %s has a %T", s.columns[i], v)
		}
	}
	return r, nil
}

// convert gives the texts of a row of the source the form that the target can store. It changes r.
func (m *mover) convert(r row) row {
	for i, v := range r {
		text, ok := v.(string)
		if kept := m.target.Engine().Text(text); ok && kept != text {
			r[i] = kept
			m.replaced++
		}
	}
	return r
}

// write stores the raw messages of rows and inserts the rows. The last statement waits for those queued before it, which bounds the
// memory that they take.
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

// refOf returns the reference of a row to its raw message; "" where it has none.
func (s shape) refOf(r row) raw.Ref {
	if s.ref < 0 {
		return ""
	}
	text, _ := r[s.ref].(string)
	return raw.Ref(text)
}

// left returns how much longer the raw message of a row may be read.
func (m *mover) left(s shape, r row) time.Duration {
	until, _ := r[s.refEnd].(int64)
	return time.UnixMicro(until).Sub(m.o.Now)
}

// moved returns the reference of a row's raw message in the target; ok is false where the raw message was not moved.
func (m *mover) moved(s shape, r row) (ref raw.Ref, ok bool) {
	if s.ref < 0 || m.left(s, r) <= 0 {
		return "", false
	}
	ref, ok = m.refs[s.refOf(r)]
	return ref, ok
}

// moveRaw stores the raw messages of rows that may still be read in the target, and records their references in m.refs.
func (m *mover) moveRaw(ctx context.Context, s shape, rows []row) error {
	var kept []raw.Ref
	var records []raw.Record
	octets := 0
	for _, r := range rows {
		ref, left := s.refOf(r), m.left(s, r)
		if _, done := m.refs[ref]; done || left <= 0 || ref.IsInRow() || slices.Contains(kept, ref) {
			continue
		}
		content, err := m.from.RawMessages.Read(ctx, m.source, ref)
		if errors.Is(err, raw.ErrGone) || errors.Is(err, raw.ErrDamaged) {
			m.report.RawMessages.Gone++ // a reader would find none either
			continue
		}
		if err != nil {
			return err
		}
		kept = append(kept, ref)
		records = append(records, raw.Seal(class(left), raw.CompressChunks(nil, content)))
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
