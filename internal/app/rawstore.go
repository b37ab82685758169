package app

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/raw"
)

// rawStore keeps raw messages for their retention. It has what package inbound needs to write, package message to
// read, and the periodic jobs to erase. Package raw has both implementations; the adapters below give them one form.
type rawStore interface {
	inbound.RawMessages
	Read(ref raw.Ref) ([]byte, error)
	NewReader(ctx context.Context, ref raw.Ref) (*raw.Reader, error)
	sweep(ctx context.Context) error
	Close() error
}

// segments is a rawStore in files of this machine.
type segments struct {
	*raw.Segments
	clock clock.Clock
}

// Append starts writing records; wait returns when they are on stable storage.
func (s segments) Append(at time.Time, records []raw.Record) (refs []raw.Ref, wait func() error, err error) {
	refs, synced, err := s.Segments.Append(at, records)
	if err != nil {
		return nil, nil, err
	}
	return refs, synced.Wait, nil
}

// InsertTx does nothing: Append has written the records.
func (segments) InsertTx(context.Context, *db.Tx, []raw.Ref, []raw.Record) error { return nil }

// sweep erases expired records. It is quick and not bound by the context.
func (s segments) sweep(context.Context) error {
	_, err := s.Sweep(s.clock.Now())
	return err
}

// partitions is a rawStore in PostgreSQL.
type partitions struct {
	*raw.Table
	clock clock.Clock
}

// Append assigns references to records. InsertTx stores them in the transaction that inserts their messages.
func (p partitions) Append(at time.Time, records []raw.Record) (refs []raw.Ref, wait func() error, err error) {
	refs, err = p.Table.Append(context.Background(), at, records)
	return refs, func() error { return nil }, err // the transaction makes them durable
}

// sweep erases expired records.
func (p partitions) sweep(ctx context.Context) error {
	_, err := p.Sweep(ctx, p.clock.Now())
	return err
}
