package ratelimit

import (
	"slices"
	"sync"
)

const (
	// A shard with fewer entries is not swept: the memory is not worth the pass.
	firstSweep = 64
	// The entries among which evict chooses. The more it looks at, the closer the choice is to the best one, and the
	// longer a call that meets a full shard holds the lock.
	looked = 8
)

// shard holds a part of the identities under its own lock, which guards all fields but cap.
type shard struct {
	mu        sync.Mutex
	tats      map[key][]int64 // for each key a theoretical arrival time per window, in microseconds since 1970; nil until first used
	cap       int             // the most entries, constant
	nextSweep int             // the number of entries at which the next new one causes a sweep
}

// entry returns the arrival times of k, of at least as many windows as given; it adds an entry with zeros, or zeros to
// one that had fewer windows under an earlier limit. The caller must hold the lock and may change the times in place
// while it does.
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

// reclaim keeps the shard within its bounds before an entry is added: it sweeps a shard that has doubled, and evicts
// an entry of a full one.
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

// sweep drops entries whose limit is available in full again. It fills a new map, because a Go map never shrinks.
// Since the next sweep follows when the shard has doubled, an added entry pays for a constant number of looks on
// average.
func (s *shard) sweep(now int64) {
	kept := make(map[key][]int64)
	for k, tats := range s.tats {
		if slices.Max(tats) > now {
			kept[k] = tats
		}
	}
	s.tats, s.nextSweep = kept, max(firstSweep, 2*len(kept))
}

// evict drops, of a few entries, the one whose limit is available in full first: the least is forgotten with it. The
// random order of map iteration chooses the few; finding the best one would read the whole shard for each call of a
// flood.
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
