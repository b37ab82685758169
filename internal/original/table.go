package original

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// Table is the store in PostgreSQL, for processes that share one: a partition for each quarter of an hour in which what is
// in it may go, so that a quarter is erased by dropping it. A record is written in the transaction that makes its message:
// its message is not there without it. It is safe for concurrent use.
//
// The records of one Append lie end to end in rows that fill a page each (docs/decisions/0031).
type Table struct {
	db *db.DB

	mu   sync.Mutex
	made map[int64]bool // partitions that this process has seen; those it dropped are not among them
}

// NewTable returns the store in a database that has been migrated.
func NewTable(d *db.DB) *Table {
	return &Table{db: d, made: make(map[int64]bool)}
}

// slack is how much later than it was numbered a record may be received: its retention counts from then.
const slack = time.Minute

// Append gives records that arrived at the given time their references, and makes sure that there is room for them. It
// writes none of them: that is KeepTx, for all of them.
func (t *Table) Append(ctx context.Context, at time.Time, records []Record) (refs []Ref, err error) {
	if year := at.Year(); year < 1971 || year > 9998 {
		return nil, fmt.Errorf("%w: it arrived in the year %d", ErrRecord, year)
	}
	if _, err := byClass(records); err != nil {
		return nil, err
	}
	refs = make([]Ref, len(records))
	ends := make(map[int64]cell, 2) // by quarter, where the next record goes
	for i, r := range records {
		quarter := quarterOf(at.Add(r.Class+slack)) + 1
		c, begun := ends[quarter]
		if !begun {
			if err := t.partition(ctx, quarter); err != nil {
				return nil, fmt.Errorf("make room for original messages: %w", err)
			}
			c = newCell(at, quarter)
		}
		c.length = int64(len(r.Data))
		refs[i] = c.ref()
		c.offset += c.length
		ends[quarter] = c
	}
	return refs, nil
}

// KeepTx writes the records of one Append, with the references that it gave, in the transaction that makes their messages.
func (t *Table) KeepTx(ctx context.Context, tx *db.Tx, refs []Ref, records []Record) error {
	streams := make(map[int64]*stream, 2)
	for i, r := range records {
		c, err := parseCell(refs[i])
		if err != nil {
			return err
		}
		s := streams[c.quarter]
		if s == nil {
			s = &stream{cell: cell{quarter: c.quarter, id: c.id}}
			streams[c.quarter] = s
		}
		if err := s.add(c, r.Data); err != nil {
			return err
		}
	}
	for _, s := range streams {
		s.end()
		if err := tx.QueueEach(ctx, insertParts, s.quarters, s.ids, s.parts); err != nil {
			return err
		}
	}
	return nil
}

// Read returns the bytes that were given to Compress before Append. It fails with ErrGone if the record is not
// there and with ErrDamaged if it is not what was written.
func (t *Table) Read(ref Ref) ([]byte, error) {
	return t.ReadFrom(context.Background(), t.db, ref)
}

// ReadFrom is Read of what q sees: a transaction sees what it has written.
func (*Table) ReadFrom(ctx context.Context, q db.Queryer, ref Ref) ([]byte, error) {
	c, err := parseCell(ref)
	if err != nil {
		return nil, err
	}
	first, last := c.rows()
	parts, err := db.Collect(ctx, q, db.Value[[]byte], selectParts, c.quarter, first, last)
	if err != nil {
		return nil, fmt.Errorf("read original %s: %w", ref, err)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("read original %s: %w", ref, ErrGone)
	}
	data, err := c.within(parts)
	if err != nil {
		return nil, fmt.Errorf("read original %s: %w", ref, err)
	}
	raw, err := Decompress(data)
	if err != nil {
		return nil, fmt.Errorf("read original %s: %w: %w", ref, ErrDamaged, err)
	}
	return raw, nil
}

// Sweep erases the partitions that are wholly past their retention at now, and returns how many. One that somebody is
// reading from is left to the next sweep.
func (t *Table) Sweep(ctx context.Context, now time.Time) (removed int, err error) {
	quarters, err := t.partitions(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, q := range quarters {
		if now.Before(time.Unix(q*int64(quarter/time.Second), 0)) {
			continue
		}
		if err := t.drop(ctx, q); err != nil {
			errs = append(errs, fmt.Errorf("erase the originals of quarter %d: %w", q, err))
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}

// Close lets go of nothing: the database is not the table's.
func (*Table) Close() error { return nil }
