package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// ErrStageLost says that staged content was swept before it was claimed. What needs it may be tried again from the beginning.
var ErrStageLost = fmt.Errorf("staged content is gone: %w", db.ErrUnavailable)

const (
	// stepOctets is about how much content one transaction of Stage stores. SQLite's writer is busy with it for some 20 milliseconds.
	stepOctets = 2 << 20
	// stageLife is how long staged content waits to be claimed. A sender waits ten minutes for a reply (RFC 5321
	// §4.5.3.2.6), so a mail that is older has been given up.
	stageLife = 15 * time.Minute
)

// Stager stores content ahead of the rows that will refer to it, in transactions of bounded size, between which other
// transactions run. Until the rows are there it holds a reference to each blob in the table blob_stage; Sweep, which a
// periodic job must call, removes those of a process that died. It is safe for concurrent use.
type Stager struct {
	db   *db.DB
	turn chan struct{} // one transaction at a time, so that a group commit does not hold several

	begun atomic.Int64 // time of the first call of Stage or Sweep, in microseconds; 0: there was none
}

// NewStager returns a stager for a database that has been migrated.
func NewStager(d *db.DB) *Stager { return &Stager{db: d, turn: make(chan struct{}, 1)} }

// Staged is content that a Stager has stored and refers to, until References.AddStaged takes the references over or
// Discard ends them.
type Staged struct {
	id       string
	contents []stagedContent
}

type stagedContent struct {
	key   Key
	size  int
	times int // how often it was given to Stage
}

// Stage stores contents and returns what References.AddStaged takes. now is when the life of what is staged begins. The contents
// must not change until it returns. After an error nothing is left that Sweep does not remove.
func (s *Stager) Stage(ctx context.Context, now time.Time, contents []Content) (Staged, error) {
	s.begun.CompareAndSwap(0, now.UnixMicro())
	var id [16]byte
	rand.Read(id[:]) // never fails, as crypto/rand documents
	staged := Staged{id: hex.EncodeToString(id[:])}
	contents = staged.unite(contents)
	missing, err := s.reserve(ctx, now, staged, contents)
	if err != nil {
		return Staged{}, fmt.Errorf("stage %d blobs: %w", len(contents), err)
	}
	if err := s.store(ctx, missing); err != nil {
		return Staged{}, errors.Join(fmt.Errorf("stage %d blobs: %w", len(contents), err), s.Discard(context.WithoutCancel(ctx), staged))
	}
	return staged, nil
}

// unite sorts contents by key, which is the order of locking, and merges those with the same key.
func (s *Staged) unite(contents []Content) (all []Content) {
	for _, c := range slices.SortedFunc(slices.Values(contents), func(a, b Content) int { return bytes.Compare(a.Key[:], b.Key[:]) }) {
		if n := len(all); n > 0 && all[n-1].Key == c.Key {
			s.contents[n-1].times++
			continue
		}
		all, s.contents = append(all, c), append(s.contents, stagedContent{c.Key, len(c.Data), 1})
	}
	return all
}

// reserve adds a reference to each content, so that none of it is deleted meanwhile, and returns those that have
// chunks to store.
func (s *Stager) reserve(ctx context.Context, now time.Time, staged Staged, contents []Content) (missing []Content, err error) {
	err = s.update(ctx, func(ctx context.Context, tx *db.Tx) error {
		var rows blobRows
		var stages stageRows
		for _, c := range contents {
			rows.add(c.Key, 1, int64(len(c.Data)))
			stages.add(staged.id, c.Key, now)
		}
		if err := errors.Join(rows.insertTx(ctx, tx), stages.insertTx(ctx, tx)); err != nil {
			return err
		}
		stored, err := chunkCounts(ctx, tx, staged.id)
		missing = nil
		for _, c := range contents {
			if stored[c.Key] != c.chunks() {
				missing = append(missing, c)
			}
		}
		return err
	}, func(ctx context.Context, q db.Queryer) (bool, error) {
		n, err := countStaged(ctx, q, staged.id)
		return n > 0, err
	})
	return missing, err
}

// store stores the chunks of contents, about stepOctets at a time.
func (s *Stager) store(ctx context.Context, contents []Content) error {
	var buf []byte
	var rows chunkRows
	flush := func() error {
		err := s.update(ctx, rows.insertTx, func(context.Context, db.Queryer) (bool, error) { return false, nil }) // storing it twice does no harm
		buf, rows = buf[:0], chunkRows{}
		return err
	}
	for _, c := range contents {
		for i := range c.chunks() {
			b := Blob{Key: c.Key}
			buf = b.pack(buf, c.chunk(i))
			rows.add(b, i)
			if len(buf) >= stepOctets {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if len(rows.hashes) == 0 {
		return nil
	}
	return flush()
}

// update is db.UpdateLocked, with one transaction of the stager at a time.
func (s *Stager) update(ctx context.Context, fn func(context.Context, *db.Tx) error, done func(context.Context, db.Queryer) (bool, error)) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", db.ErrUnavailable, ctx.Err())
	}
	return s.db.UpdateLocked(ctx, fn, done)
}

// claimTx removes the references that the stager holds. The references that replace them must have been added in the
// transaction.
func (s Staged) claimTx(ctx context.Context, tx *db.Tx) error {
	n, err := tx.Exec(ctx, deleteStage, s.id)
	if err != nil {
		return fmt.Errorf("claim staged blobs: %w", err)
	}
	if n != int64(len(s.contents)) {
		return ErrStageLost
	}
	return nil
}

// Discard removes the references of what will not be claimed, and with the last one the blob.
func (s *Stager) Discard(ctx context.Context, staged Staged) error {
	if err := s.discard(ctx, staged.id); err != nil {
		return fmt.Errorf("discard staged blobs: %w", err)
	}
	return nil
}

// discard removes the references of a stage by its identifier.
func (s *Stager) discard(ctx context.Context, id string) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := LockTx(ctx, tx, selectStagedKeys, id); err != nil {
			return err
		}
		return tx.Queue(ctx, deleteStage, id)
	})
}

// Sweep discards what was staged so long before now that nothing will claim it: its process has died. On SQLite, which one process at a time
// uses, that is everything from before the first call of Stage or Sweep. It returns how many stages.
func (s *Stager) Sweep(ctx context.Context, now time.Time) (swept int, err error) {
	s.begun.CompareAndSwap(0, now.UnixMicro())
	before := now.Add(-stageLife).UnixMicro()
	if s.db.Engine() == db.SQLite {
		before = max(before, s.begun.Load())
	}
	ids, err := db.Collect(ctx, s.db, db.Value[string], selectOldStages, before)
	if err != nil {
		return 0, fmt.Errorf("list staged blobs that were left: %w", err)
	}
	for _, id := range ids {
		if err := s.discard(ctx, id); err != nil {
			return swept, fmt.Errorf("sweep staged blobs: %w", err)
		}
		swept++
	}
	return swept, nil
}
