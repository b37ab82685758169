package ratelimit

import (
	"slices"
	"sync"
)

const (
	firstSweep = 64 // entries below which a shard is not swept
	looked     = 8  // entries among which evict chooses
)

// shard holds a part of the identities under its own lock. For each key it keeps a theoretical arrival time for each window, in
// microseconds since 1970.
type shard struct {
	mu        sync.Mutex
	tats      map[key][]int64
	cap       int
	nextSweep int
}

// entry returns the times of k, at least as many as windows. The caller may change them in place while it holds the lock.
func (s *shard) entry(k key, windows int, now int64) []int64 {
	tats, known := s.tats[k]
	if known && len(tats) >= windows {
		return tats
	}
	if !known {
		s.reclaim(now)
	}
	tats = append(slices.Clip(tats), make([]int64, windows-len(tats))...)
	s.tats[k.own()] = tats
	return tats
}

// reclaim frees memory for one more entry.
func (s *shard) reclaim(now int64) {
	if s.tats == nil {
		s.tats, s.nextSweep = make(map[key][]int64), firstSweep
	}
	if len(s.tats) >= s.nextSweep {
		s.sweep(now)
	}
	if len(s.tats) >= s.cap {
		s.evict()
	}
}

// sweep drops idle entries. It fills a new map, because a map never shrinks.
func (s *shard) sweep(now int64) {
	kept := make(map[key][]int64)
	for k, tats := range s.tats {
		if slices.Max(tats) > now {
			kept[k] = tats
		}
	}
	s.tats, s.nextSweep = kept, max(firstSweep, 2*len(kept))
}

// evict drops the entry that will be idle first among a few, which the random order of map iteration chooses.
func (s *shard) evict() {
	var victim key
	first, seen := int64(0), 0
	for k, tats := range s.tats {
		if idle := slices.Max(tats); seen == 0 || idle < first {
			victim, first = k, idle
		}
		if seen++; seen == looked {
			break
		}
	}
	delete(s.tats, victim)
}
