package raw

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// Table stores raw messages in PostgreSQL, which several processes may share. Records that expire within the same twenty
// seconds share a partition, which is truncated to erase them (docs/decisions/0044). A record is written in the
// transaction that inserts its message. The records of one Append are stored end to end, in rows each of which fills a
// page (docs/decisions/0031). A Table is safe for concurrent use.
type Table struct {
	db *db.DB

	mu       sync.Mutex    // guards the fields below
	known    map[slot]bool // partitions that this process has found or created
	nextDrop time.Time     // when empty partitions may next be dropped
}

// NewTable returns the Table of a migrated database. It needs no Close.
func NewTable(d *db.DB) *Table {
	return &Table{db: d, known: make(map[slot]bool)}
}

// Append assigns references to records that arrived at the given time, and creates the partitions that they need, in a
// transaction of its own. It writes no record: InsertTx must be called with the same records in the same order. Error:
// ErrRecord.
func (t *Table) Append(ctx context.Context, at time.Time, records []Record) (refs []Ref, err error) {
	if year := at.Year(); year < 1971 || year > 9998 {
		return nil, fmt.Errorf("%w: it arrived in the year %d", ErrRecord, year)
	}
	if _, err := byClass(records); err != nil {
		return nil, err
	}
	refs = make([]Ref, len(records))
	next := make(map[time.Duration]tableRef, 2) // by class, the reference to the next record
	for i, r := range records {
		c, begun := next[r.Class]
		if !begun {
			expires := at.Add(r.Class + slack)
			c = newTableRef(expires, slotOf(expires, r.Class))
			if err := t.ensurePartition(ctx, c.slot); err != nil {
				return nil, fmt.Errorf("create a partition for raw messages: %w", err)
			}
		}
		c.length, c.seal = int64(len(r.Data)), r.seal
		refs[i] = c.ref()
		c.offset += c.length
		next[r.Class] = c
	}
	return refs, nil
}

// InsertTx writes all records of one Append, with the references that it returned, in the transaction that inserts
// their messages. The data must not change until the transaction ends. Error: ErrRecord if the records are not those
// of the Append.
func (t *Table) InsertTx(ctx context.Context, tx *db.Tx, refs []Ref, records []Record) error {
	builders := make(map[[16]byte]*rowBuilder, 2)
	for i, r := range records {
		c, err := parseTableRef(refs[i])
		if err != nil {
			return err
		}
		s := builders[c.id]
		if s == nil {
			s = &rowBuilder{tableRef: tableRef{slot: c.slot, id: c.id}}
			builders[c.id] = s
		}
		if err := s.add(c, r.Data); err != nil {
			return err
		}
	}
	for _, s := range builders {
		s.flush()
		if err := tx.QueueEach(ctx, insertParts, s.slots, s.ids, s.parts); err != nil {
			return err
		}
	}
	return nil
}

// Read returns the raw message of a record. It is not bound by a context. Errors: ErrGone, ErrDamaged.
func (t *Table) Read(ref Ref) ([]byte, error) {
	return t.ReadFrom(context.Background(), t.db, ref)
}

// ReadFrom is Read with q: a transaction reads what it has written. Errors: ErrGone, ErrDamaged.
func (*Table) ReadFrom(ctx context.Context, q db.Queryer, ref Ref) ([]byte, error) {
	c, err := parseTableRef(ref)
	if err != nil {
		return nil, err
	}
	data, err := sealed{tableRecord{q, c}, c.seal}.whole(ctx)
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref.Redacted(), err)
	}
	return decompressRecord(ref, data)
}

// NewReader returns a reader of a record, each chunk of which is a query. ctx bounds this call only. Errors: ErrGone,
// ErrDamaged.
func (t *Table) NewReader(ctx context.Context, ref Ref) (*Reader, error) {
	c, err := parseTableRef(ref)
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref.Redacted(), err)
	}
	return newReader(ctx, ref, sealed{tableRecord{t.db, c}, c.seal}, c.length)
}

// tableRecord is a record in a Table as the source of a Reader.
type tableRecord struct {
	q db.Queryer
	tableRef
}

// whole implements source. A Table keeps no checksum of a record; its seal and its chunks have one.
func (r tableRecord) whole(ctx context.Context) ([]byte, error) {
	first, last := r.rowKeys()
	parts, err := db.Collect(ctx, r.q, db.Value[[]byte], selectParts, int64(r.slot), first, last)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, ErrGone
	}
	return r.fromRows(parts)
}

func (r tableRecord) read(ctx context.Context, p []byte, off int64) error {
	part := tableRecord{r.q, tableRef{slot: r.slot, id: r.id, offset: r.offset + off, length: int64(len(p))}}
	data, err := part.whole(ctx)
	copy(p, data)
	return err
}

// Sweep erases the records whose retention is over at now, and returns how many partitions it emptied. It continues
// after an error and returns all errors; the next call tries again. Several processes may call it at the same time.
func (t *Table) Sweep(ctx context.Context, now time.Time) (emptied int, err error) {
	parts, err := t.partitions(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	var expired []slot
	for _, p := range parts {
		switch {
		case !now.Before(p.slot.ends()):
			expired = append(expired, p.slot)
			if p.used {
				errs = append(errs, t.emptyPartition(ctx, p.slot))
				emptied++
			}
		case p.used && p.slot.isWide() && now.After(p.slot.begins()):
			errs = append(errs, t.deleteExpired(ctx, p.slot, now))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return emptied, err
	}
	return emptied, t.dropEmptied(ctx, now, expired)
}

// dropEvery is how often emptied partitions are dropped. Dropping waits for all transactions that use the table, and later transactions
// wait behind it; emptying waits only for those that use the partition.
const dropEvery = 15 * time.Minute

// dropEmptied drops partitions, at most every dropEvery. If a long transaction prevents that, it leaves them to the next
// time: they are empty.
func (t *Table) dropEmptied(ctx context.Context, now time.Time, expired []slot) error {
	t.mu.Lock()
	due := len(expired) > 0 && !now.Before(t.nextDrop)
	if due {
		t.nextDrop = now.Add(dropEvery)
	}
	t.mu.Unlock()
	if !due {
		return nil
	}
	if err := t.dropPartitions(ctx, expired); err != nil && !db.Unavailable(err) {
		return fmt.Errorf("drop %d partitions of raw messages: %w", len(expired), err)
	}
	return nil
}

// Close does nothing: the database belongs to the caller.
func (*Table) Close() error { return nil }
