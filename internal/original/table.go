package original

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// Table is the store in PostgreSQL, for processes that share one: a partition for each quarter of an hour in which what is
// in it may go, so that a quarter is erased by dropping it. A record is written in the transaction that makes its message:
// neither is there without the other. It is safe for concurrent use.
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
// writes none of them: that is KeepTx, for each.
func (t *Table) Append(ctx context.Context, at time.Time, records []Record) (refs []Ref, err error) {
	if year := at.Year(); year < 1971 || year > 9998 {
		return nil, fmt.Errorf("%w: it arrived in the year %d", ErrRecord, year)
	}
	if _, err := byClass(records); err != nil {
		return nil, err
	}
	refs = make([]Ref, len(records))
	for i, r := range records {
		cell := newCell(at, r.Class)
		if err := t.partition(ctx, cell.quarter); err != nil {
			return nil, fmt.Errorf("make room for original messages: %w", err)
		}
		refs[i] = cell.ref()
	}
	return refs, nil
}

// KeepTx writes a record in the transaction that makes its message.
func (t *Table) KeepTx(ctx context.Context, tx *db.Tx, ref Ref, data []byte) error {
	c, err := parseCell(ref)
	if err != nil {
		return err
	}
	return tx.Queue(ctx, insertOriginal, c.quarter, c.id[:], data)
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
	var data []byte
	err = q.QueryRow(ctx, selectOriginal, c.quarter, c.id[:]).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read original %s: %w", ref, ErrGone)
	}
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

// cell is a reference taken apart.
type cell struct {
	quarter int64    // since 1970, from whose beginning on the record may go
	id      [16]byte // sorts by time, so that the index grows at its end
}

func newCell(at time.Time, class time.Duration) (c cell) {
	c.quarter = quarterOf(at.Add(class+slack)) + 1
	rand.Read(c.id[6:]) // never fails, as crypto/rand documents
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	copy(c.id[:6], ms[2:])
	return c
}

const cellPrefix = "t."

func (c cell) ref() Ref {
	return Ref(cellPrefix + strconv.FormatInt(c.quarter, 36) + "." + hex.EncodeToString(c.id[:]))
}

// parseCell is the inverse of cell.ref. What is no reference of ours is ErrDamaged; one into a segment file, which a
// migrated database still has, is ErrGone.
func parseCell(r Ref) (c cell, err error) {
	text, ours := strings.CutPrefix(string(r), cellPrefix)
	if !ours {
		if _, err := r.parse(); err == nil {
			return c, ErrGone
		}
	}
	number, digits, _ := strings.Cut(text, ".")
	if c.quarter, err = strconv.ParseInt(number, 36, 64); err == nil {
		var id []byte
		if id, err = hex.DecodeString(digits); err == nil && len(id) == len(c.id) {
			c.id = [16]byte(id)
		}
	}
	if err != nil || !ours || c.ref() != r {
		return c, fmt.Errorf("%w: not a reference: %q", ErrDamaged, string(r))
	}
	return c, nil
}
