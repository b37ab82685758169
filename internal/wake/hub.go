package wake

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// shardCount spreads the keys over locks of their own. No lock is held longer than a map access, so that
// even a shard with every sleeper in it delays nobody.
const shardCount = 64

// Hub knows who sleeps on which key. It is safe for concurrent use; New makes one.
type Hub struct {
	seed   maphash.Seed
	shards [shardCount]shard
	closed chan struct{}
	once   sync.Once

	forward func(keys []string) // tells other processes; nil: there are none
}

type shard struct {
	mu     sync.Mutex
	topics map[string]*topic
	_      [48]byte // neighbours share no cache line
}

// topic is a key that somebody sleeps on. All its sleepers share one channel, which Wake closes: a sleeper
// costs its timer, and a Wake takes the same time under the lock for one sleeper as for ten thousand.
type topic struct {
	sleepers int
	woken    chan struct{} // nil once closed, until a sleeper asks for it again
}

// New returns a hub without sleepers.
func New() *Hub {
	h := &Hub{seed: maphash.MakeSeed(), closed: make(chan struct{})}
	for i := range h.shards {
		h.shards[i].topics = make(map[string]*topic)
	}
	return h
}

// Wake wakes every sleeper of the keys. Call it after the change can be read, never before. A key that
// nobody sleeps on costs a map look-up. With a Relay the sleepers of other processes are woken soon after.
func (h *Hub) Wake(keys ...string) {
	for _, key := range keys {
		h.wake(key)
	}
	if h.forward != nil && len(keys) > 0 {
		h.forward(keys)
	}
}

func (h *Hub) wake(key string) {
	if woken := h.disarm(key); woken != nil {
		close(woken) // outside the lock: it takes as long as there are sleepers
	}
}

// wakeAll wakes every sleeper there is.
func (h *Hub) wakeAll() {
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.Lock()
		keys := slices.Collect(maps.Keys(s.topics))
		s.mu.Unlock()
		for _, key := range keys {
			h.wake(key)
		}
	}
}

// Close ends every sleep at once, now and from now on: Until then reads once and returns. It is for shutdown
// and may be called more than once.
func (h *Hub) Close() { h.once.Do(func() { close(h.closed) }) }

// Sleepers is the number of subscriptions to keys now: a call of Until has one, a call of UntilEither two.
func (h *Hub) Sleepers() int {
	sum := 0
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.Lock()
		for _, t := range s.topics {
			sum += t.sleepers
		}
		s.mu.Unlock()
	}
	return sum
}

func (h *Hub) shard(key string) *shard {
	return &h.shards[maphash.String(h.seed, key)%shardCount]
}

func (h *Hub) join(key string) *topic {
	s := h.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.topics[key]
	if t == nil {
		t = &topic{}
		s.topics[key] = t
	}
	t.sleepers++
	return t
}

func (h *Hub) leave(key string, t *topic) {
	s := h.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.sleepers--; t.sleepers == 0 {
		delete(s.topics, key)
	}
}

// arm returns the channel that the next Wake of key closes.
func (h *Hub) arm(key string, t *topic) <-chan struct{} {
	s := h.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.woken == nil {
		t.woken = make(chan struct{})
	}
	return t.woken
}

// disarm takes the channel that the sleepers of key wait on, or nil where none waits.
func (h *Hub) disarm(key string) (woken chan struct{}) {
	s := h.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.topics[key]; t != nil {
		woken, t.woken = t.woken, nil
	}
	return woken
}
