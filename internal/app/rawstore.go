package app

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/raw"
)

// rawStore keeps raw messages for their retention. Package inbound writes to it, package message reads from it, and a
// periodic job erases what has expired. Package raw has an implementation for files and one for PostgreSQL; the adapters
// below give both the same methods. A rawStore is safe for concurrent use.
type rawStore interface {
	inbound.RawMessages
	// Read returns a whole raw message.
	Read(ref raw.Ref) ([]byte, error)
	// NewReader returns a reader that reads a raw message in parts, for downloads.
	NewReader(ctx context.Context, ref raw.Ref) (*raw.Reader, error)
	// sweep erases the raw messages whose retention has passed.
	sweep(ctx context.Context) error
	// Close waits for what was appended. Append must not be called afterwards.
	Close() error
}

// segments is a rawStore in files in data_dir, for a service on SQLite.
type segments struct {
	*raw.Segments
	clock clock.Clock
}

// Append writes records and starts to sync them. wait blocks until they are on stable storage; its error means that they may
// not be, so their messages must not be accepted.
func (s segments) Append(at time.Time, records []raw.Record) (refs []raw.Ref, wait func() error, err error) {
	refs, synced, err := s.Segments.Append(at, records)
	if err != nil {
		return nil, nil, err
	}
	return refs, synced.Wait, nil
}

// InsertTx does nothing, since Append has written the records.
func (segments) InsertTx(context.Context, *db.Tx, []raw.Ref, []raw.Record) error { return nil }

// sweep erases expired records. It deletes whole files, which is quick, so it does not observe the context.
func (s segments) sweep(context.Context) error {
	_, err := s.Sweep(s.clock.Now())
	return err
}

// partitions is a rawStore in a partitioned table of PostgreSQL, which several processes may share.
type partitions struct {
	*raw.Table
	clock clock.Clock
}

// Append assigns references to records without writing them, and wait returns nil at once: InsertTx writes the records in the
// transaction that inserts their messages, whose commit makes both durable.
func (p partitions) Append(at time.Time, records []raw.Record) (refs []raw.Ref, wait func() error, err error) {
	refs, err = p.Table.Append(context.Background(), at, records)
	return refs, func() error { return nil }, err // the transaction makes them durable
}

// sweep erases expired records, by truncating partitions.
func (p partitions) sweep(ctx context.Context) error {
	_, err := p.Sweep(ctx, p.clock.Now())
	return err
}
