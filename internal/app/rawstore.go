package app

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/raw"
)

// rawStore keeps raw messages for their short time.
type rawStore interface {
	inbound.RawMessages
	Read(ref raw.Ref) ([]byte, error)
	NewReader(ctx context.Context, ref raw.Ref) (*raw.Reader, error)
	sweep(ctx context.Context) error
	Close() error
}

// segments are raw messages in files of this machine.
type segments struct {
	*raw.Segments
	clock clock.Clock
}

// Append begins to write records.
func (s segments) Append(at time.Time, records []raw.Record) ([]raw.Ref, inbound.Synced, error) {
	refs, synced, err := s.Segments.Append(at, records)
	return refs, synced, err
}

// KeepTx has nothing to do: Append has written the record.
func (segments) KeepTx(context.Context, *db.Tx, []raw.Ref, []raw.Record) error { return nil }

func (s segments) sweep(context.Context) error {
	_, err := s.Sweep(s.clock.Now())
	return err
}

// partitions are raw messages in PostgreSQL.
type partitions struct {
	*raw.Table
	clock clock.Clock
}

// Append gives records their references; the transaction of their messages writes them.
func (p partitions) Append(at time.Time, records []raw.Record) ([]raw.Ref, inbound.Synced, error) {
	refs, err := p.Table.Append(context.Background(), at, records)
	return refs, withRows{}, err
}

func (p partitions) sweep(ctx context.Context) error {
	_, err := p.Sweep(ctx, p.clock.Now())
	return err
}

// withRows is on stable storage when the rows beside it are.
type withRows struct{}

// Wait has nothing to wait for.
func (withRows) Wait() error { return nil }
