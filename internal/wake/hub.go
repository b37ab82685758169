package wake

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// shardCount is the number of shards, each with its own lock. No lock is held longer than for a map access, so that even many sleepers in
// one shard delay no caller.
const shardCount = 64

// Hub holds the sleepers of each key. It is safe for concurrent use. Keys without sleepers take no memory.
type Hub struct {
	seed   maphash.Seed
	shards [shardCount]shard
	closed chan struct{}
	once   sync.Once
	asleep atomic.Int64 // calls that sleep, and do not read

	forward func(keys []string) // notifies other processes, without blocking; nil without a Relay; set before the hub is used
}

type shard struct {
	mu     sync.Mutex // guards topics and what they contain
	topics map[string]*topic
	_      [48]byte // padding, so that shards share no cache line
}

// topic is a key with sleepers. They share one channel, which Wake closes, so that Wake holds the lock as long for one sleeper as for ten
// thousand.
type topic struct {
	sleepers int
	woken    chan struct{} // nil after Wake, until a sleeper arms it again
}

// New returns a hub without sleepers.
func New() *Hub {
	h := &Hub{seed: maphash.MakeSeed(), closed: make(chan struct{})}
	for i := range h.shards {
		h.shards[i].topics = make(map[string]*topic)
	}
	return h
}

// Wake wakes the sleepers of the keys. It must be called after the change is visible to readers. A key without sleepers costs a map look-up.
// With a Relay the sleepers of other processes are woken soon after.
func (h *Hub) Wake(keys ...string) {
	for _, key := range keys {
		h.wake(key)
	}
	if h.forward != nil && len(keys) > 0 {
		h.forward(keys)
	}
}

// WakeHere is Wake without waking the sleepers of other processes, which have learnt of the change by themselves.
func (h *Hub) WakeHere(keys ...string) {
	for _, key := range keys {
		h.wake(key)
	}
}

// wake wakes the sleepers of a key in this process.
func (h *Hub) wake(key string) {
	if woken := h.disarm(key); woken != nil {
		close(woken) // outside the lock: it takes as long as there are sleepers
	}
}

// wakeAll wakes all sleepers.
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

// Close ends all waits, and Until only reads once from then on. It is for shutdown and may be called more than once.
// Wake still works.
func (h *Hub) Close() { h.once.Do(func() { close(h.closed) }) }

// Closed reports whether Close was called.
func (h *Hub) Closed() bool {
	select {
	case <-h.closed:
		return true
	default:
		return false
	}
}

// Sleepers returns the current number of subscriptions: a call of Until has one, a call of UntilEither two.
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

// Waiting returns the number of calls of Until and UntilEither that are asleep. A call that is reading does not count.
func (h *Hub) Waiting() int { return int(h.asleep.Load()) }

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

// disarm removes and returns the channel that the sleepers of key wait on; nil without sleepers.
func (h *Hub) disarm(key string) (woken chan struct{}) {
	s := h.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.topics[key]; t != nil {
		woken, t.woken = t.woken, nil
	}
	return woken
}
