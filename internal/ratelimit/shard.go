package ratelimit

import (
	"slices"
	"sync"
)

const (
	firstSweep = 64 // a shard smaller than this is not swept
	looked     = 8  // entries looked at for one to give way
)

// shard is a part of the identities under a lock of its own. For each key it keeps a theoretical arrival time
// per window, in microseconds.
type shard struct {
	mu        sync.Mutex
	tats      map[key][]int64
	cap       int
	nextSweep int
}

// entry returns the times kept under k, in place, at least as many as there are windows.
func (s *shard) entry(k key, windows int, now int64) []int64 {
	tats, known := s.tats[k]
	if known && len(tats) >= windows {
		return tats
	}
	if !known {
		s.makeRoom(now)
	}
	tats = append(slices.Clip(tats), make([]int64, windows-len(tats))...)
	s.tats[k.own()] = tats
	return tats
}

func (s *shard) makeRoom(now int64) {
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

// sweep drops what is idle. It fills a new map, because a map that once was large stays so.
func (s *shard) sweep(now int64) {
	kept := make(map[key][]int64)
	for k, tats := range s.tats {
		if slices.Max(tats) > now {
			kept[k] = tats
		}
	}
	s.tats, s.nextSweep = kept, max(firstSweep, 2*len(kept))
}

// evict drops the entry that will be idle first among a few; the map's own order, random each time, chooses them.
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
