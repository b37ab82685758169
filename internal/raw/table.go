package raw

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// Table is the store in PostgreSQL, for processes that share one: a partition for each twenty seconds in which what is
// in it may go, so that it is erased by truncating the partition (docs/decisions/0044). A record is written in the transaction that makes its message:
// its message is not there without it. It is safe for concurrent use.
//
// The records of one Append lie end to end in rows that fill a page each (docs/decisions/0031).
type Table struct {
	db *db.DB

	mu       sync.Mutex
	made     map[slot]bool // partitions that this process has seen; those it dropped are not among them
	nextDrop time.Time     // when empty partitions are dropped again
}

// NewTable returns the store in a database that has been migrated.
func NewTable(d *db.DB) *Table {
	return &Table{db: d, made: make(map[slot]bool)}
}

// Append gives records that arrived at the given time their references, and makes sure that there is room for them. It
// writes none of them: that is InsertTx, for all of them.
func (t *Table) Append(ctx context.Context, at time.Time, records []Record) (refs []Ref, err error) {
	if year := at.Year(); year < 1971 || year > 9998 {
		return nil, fmt.Errorf("%w: it arrived in the year %d", ErrRecord, year)
	}
	if _, err := byClass(records); err != nil {
		return nil, err
	}
	refs = make([]Ref, len(records))
	ends := make(map[time.Duration]cell, 2) // by class, where the next record goes
	for i, r := range records {
		c, begun := ends[r.Class]
		if !begun {
			goes := at.Add(r.Class + slack)
			c = newCell(goes, slotOf(goes, r.Class))
			if err := t.partition(ctx, c.slot); err != nil {
				return nil, fmt.Errorf("make room for raw messages: %w", err)
			}
		}
		c.length = int64(len(r.Data))
		refs[i] = c.ref()
		c.offset += c.length
		ends[r.Class] = c
	}
	return refs, nil
}

// InsertTx writes the records of one Append, with the references that it gave, in the transaction that makes their messages.
func (t *Table) InsertTx(ctx context.Context, tx *db.Tx, refs []Ref, records []Record) error {
	streams := make(map[[16]byte]*stream, 2)
	for i, r := range records {
		c, err := parseCell(refs[i])
		if err != nil {
			return err
		}
		s := streams[c.id]
		if s == nil {
			s = &stream{cell: cell{slot: c.slot, id: c.id}}
			streams[c.id] = s
		}
		if err := s.add(c, r.Data); err != nil {
			return err
		}
	}
	for _, s := range streams {
		s.end()
		if err := tx.QueueEach(ctx, insertParts, s.slots, s.ids, s.parts); err != nil {
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
	data, err := cellRecord{q, c}.whole(ctx)
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref, err)
	}
	raw, err := Decompress(data)
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w: %w", ref, ErrDamaged, err)
	}
	return raw, nil
}

// NewReader returns a reader of a record. Errors: ErrGone, ErrDamaged.
func (t *Table) NewReader(ctx context.Context, ref Ref) (*Reader, error) {
	c, err := parseCell(ref)
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref, err)
	}
	r := cellRecord{t.db, c}
	if c.length > 0 {
		return newReader(ctx, ref, r, c.length)
	}
	data, err := r.whole(ctx) // of an earlier version, whose references do not say how long a record is
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref, err)
	}
	return NewReader(ctx, ref, data)
}

// cellRecord is a record as the source of a Reader.
type cellRecord struct {
	q db.Queryer
	cell
}

func (r cellRecord) whole(ctx context.Context) ([]byte, error) {
	first, last := r.rows()
	parts, err := db.Collect(ctx, r.q, db.Value[[]byte], selectParts, int64(r.slot), first, last)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, ErrGone
	}
	return r.within(parts)
}

func (r cellRecord) read(ctx context.Context, p []byte, off int64) error {
	part := cellRecord{r.q, cell{slot: r.slot, id: r.id, offset: r.offset + off, length: int64(len(p))}}
	data, err := part.whole(ctx)
	copy(p, data)
	return err
}

// Sweep erases what is past its retention at now, and returns how many partitions that emptied. It goes on after an error and
// returns all of them.
func (t *Table) Sweep(ctx context.Context, now time.Time) (emptied int, err error) {
	parts, err := t.partitions(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	var over []slot
	for _, p := range parts {
		switch {
		case !now.Before(p.slot.ends()):
			over = append(over, p.slot)
			if p.used {
				errs = append(errs, t.empty(ctx, p.slot))
				emptied++
			}
		case p.used && p.slot.wide() && now.After(p.slot.begins()):
			errs = append(errs, t.thin(ctx, p.slot, now))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return emptied, err
	}
	return emptied, t.dropSome(ctx, now, over)
}

// dropEvery is how often partitions are dropped that have been emptied. That waits for all who use the table, and who comes
// after waits behind it; emptying one does not.
const dropEvery = 15 * time.Minute

// dropSome drops partitions, if it is time for that. Where a transaction goes on for long it is left to the next time.
func (t *Table) dropSome(ctx context.Context, now time.Time, over []slot) error {
	t.mu.Lock()
	due := len(over) > 0 && !now.Before(t.nextDrop)
	if due {
		t.nextDrop = now.Add(dropEvery)
	}
	t.mu.Unlock()
	if !due {
		return nil
	}
	if err := t.drop(ctx, over); err != nil && !db.Unavailable(err) {
		return fmt.Errorf("drop %d partitions of raw messages: %w", len(over), err)
	}
	return nil
}

// Close lets go of nothing: the database is not the table's.
func (*Table) Close() error { return nil }
