package apikey

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// uses has the last uses of keys that are not written yet, so that calls with a key need no write. It is safe for
// concurrent use. It has at most one entry for each key that is used between two flushes.
type uses struct {
	// mu guards last.
	mu   sync.Mutex
	last map[string]time.Time // by prefix
}

// record records a use, unless a later one is recorded.
func (u *uses) record(prefix string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = make(map[string]time.Time)
	}
	if at.After(u.last[prefix]) {
		u.last[prefix] = at
	}
}

// of returns the last use that is not written yet, or zero.
func (u *uses) of(prefix string) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last[prefix]
}

// all returns a copy, so that it can be written without the lock.
func (u *uses) all() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.last)
}

// written removes uses that were written, except of keys that were used again.
func (u *uses) written(prefixes []string, last map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, prefix := range prefixes {
		if u.last[prefix].Equal(last[prefix]) {
			delete(u.last, prefix)
		}
	}
}

// flushBatch is how many uses one transaction writes, so that it does not block other writers for long.
const flushBatch = 200

// Flush writes the last uses of keys. Uses that are not flushed are lost if the process is killed: lastUsedAt is then
// too early by at most the time between two flushes. The validity of a key never depends on them. Uses stay in memory
// until they are written: after an error the next call writes them.
func (s *Service) Flush(ctx context.Context) error {
	last := s.uses.all()
	for prefixes := range slices.Chunk(slices.Sorted(maps.Keys(last)), flushBatch) {
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			for _, prefix := range prefixes {
				if _, err := tx.Exec(ctx, updateUsed, prefix, last[prefix].UnixMicro()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("write the last uses of keys: %w", err)
		}
		s.uses.written(prefixes, last)
	}
	return nil
}
