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

// uses are the last uses of keys that have not been written yet: a call with a key costs no write.
type uses struct {
	mu   sync.Mutex
	last map[string]time.Time // by prefix
}

func (u *uses) note(prefix string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = make(map[string]time.Time)
	}
	if at.After(u.last[prefix]) {
		u.last[prefix] = at
	}
}

// of is the last use that has not been written, or zero.
func (u *uses) of(prefix string) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last[prefix]
}

func (u *uses) all() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.last)
}

// written forgets uses, but for the keys that were used again.
func (u *uses) written(prefixes []string, last map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, prefix := range prefixes {
		if u.last[prefix].Equal(last[prefix]) {
			delete(u.last, prefix)
		}
	}
}

// flushBatch is how many uses one update writes.
const flushBatch = 200

// Flush writes when keys were last used. What is not flushed is lost when the process is killed: lastUsedAt is then as
// much too early as the time between two flushes. It is never a key's validity that waits here.
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
			return fmt.Errorf("write when keys were used: %w", err)
		}
		s.uses.written(prefixes, last)
	}
	return nil
}
