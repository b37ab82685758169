package allmail

import (
	"context"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// The bounds of the indexes of a process: their octets together, and how many there are, since each is brought up to date every keepUpEvery.
const (
	indexMax    = 160 << 20
	accountsMax = 200
)

// indexes are the indexes of a process, at most indexMax octets of them. Where they would be larger, the one that was used least recently
// goes, and of a single one the texts of the oldest messages.
type indexes struct {
	mu        sync.Mutex // guards byAccount and index.usedAt
	byAccount map[id.Account]*index
}

func newIndexes() indexes { return indexes{byAccount: make(map[id.Account]*index)} }

// get returns the index of an account, a new one if there is none, and notes that it is used.
func (s *indexes) get(account id.Account, now time.Time) *index {
	s.mu.Lock()
	var dropped []*index
	x := s.byAccount[account]
	if x == nil {
		if len(s.byAccount) >= accountsMax {
			dropped = append(dropped, s.dropLocked())
		}
		x = newIndex(account)
		s.byAccount[account] = x
	}
	x.usedAt = now
	s.mu.Unlock()
	evict(dropped)
	return x
}

// touch notes that an index is used, now that it is its turn to be loaded: it may have waited for longer than those that were used since.
func (s *indexes) touch(x *index, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.usedAt = now
}

// evict evicts indexes that were dropped. The caller does not hold mu, since searches in progress may have to be waited for.
func evict(dropped []*index) {
	for _, x := range dropped {
		x.evict()
	}
}

// dropLocked drops the index that was used least recently, and returns it. The caller holds mu.
func (s *indexes) dropLocked() *index {
	var oldest *index
	for _, x := range s.byAccount {
		if oldest == nil || x.usedAt.Before(oldest.usedAt) {
			oldest = x
		}
	}
	delete(s.byAccount, oldest.account)
	return oldest
}

// replace returns the index that takes the place of one that is broken.
func (s *indexes) replace(broken *index) *index {
	broken.evict()
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byAccount[broken.account]
	if x == nil || x == broken {
		x = newIndex(broken.account)
		s.byAccount[broken.account] = x
	}
	x.usedAt = broken.usedAt
	return x
}

// fit makes room for an index that has grown.
func (s *indexes) fit(grown *index, max int64) { evict(s.drop(grown, max)) }

// drop drops the indexes that were used least recently until there is room for one that has grown, and returns them.
func (s *indexes) drop(grown *index, max int64) (dropped []*index) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.byAccount[grown.account] == grown { // otherwise it was dropped itself
		var sum int64
		var oldest *index
		for _, x := range s.byAccount {
			size := x.size()
			sum += size
			if x != grown && size > 0 && (oldest == nil || x.usedAt.Before(oldest.usedAt)) { // one without entries waits to be loaded
				oldest = x
			}
		}
		switch {
		case sum <= max:
			return dropped
		case oldest == nil:
			grown.shrink(max)
			return dropped
		}
		delete(s.byAccount, oldest.account)
		dropped = append(dropped, oldest)
	}
	return dropped
}

// all returns the indexes that were used since a time. It drops the others.
func (s *indexes) all(since time.Time) (used []*index) {
	s.mu.Lock()
	var dropped []*index
	for account, x := range s.byAccount {
		if x.usedAt.Before(since) {
			delete(s.byAccount, account)
			dropped = append(dropped, x)
			continue
		}
		used = append(used, x)
	}
	s.mu.Unlock()
	evict(dropped)
	return used
}

const (
	keepUpEvery = 2 * time.Second
	idleMax     = 10 * time.Minute // after its last use an index is dropped
)

// Warm begins to read the messages of an account for a search that is likely to follow. KeepUp reads them.
func (s *Service) Warm(account id.Account) { s.indexes.get(account, s.Clock.Now()) }

// KeepUp keeps the indexes in use up to date until ctx ends, so that a search finds little to read. It ignores errors, since the next
// search tries again. It blocks, so callers run it on a goroutine of its own.
func (s *Service) KeepUp(ctx context.Context) {
	for {
		for _, x := range s.indexes.all(s.Clock.Now().Add(-idleMax)) {
			s.keepUp(ctx, x)
		}
		timer := clock.System().NewTimer(keepUpEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// keepUp brings an index up to date, and begins another one in its place if it is broken. It does not wait for another one that is being
// loaded, since the others would be broken after that.
func (s *Service) keepUp(ctx context.Context, x *index) {
	if !x.loaded.Load() && len(s.loading) > 0 {
		return
	}
	if broken, _ := s.take(ctx, x); broken {
		s.indexes.replace(x)
	}
}
