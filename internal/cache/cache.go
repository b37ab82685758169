// Package cache is a bounded in-memory cache with expiry and least-recently-used eviction.
//
// Values have a cost, and the total cost is bounded. The caller passes the time to Get and Put, so the package needs no
// clock and starts no goroutine: an expired value is removed when it is looked up or when its memory is needed for another.
//
// For values that are read from a database and can change there, Look, PutSince and Forget prevent that an old value is
// cached after a change: Look returns the epoch, Forget raises it, and PutSince stores nothing if it was raised in
// between.
package cache

import (
	"container/list"
	"sync"
	"time"
)

// Cache maps keys to values that may expire. Its methods may be called by many goroutines.
type Cache[K comparable, V any] struct {
	// max is the bound of cost. It does not change.
	max int

	// mu guards the fields below.
	mu      sync.Mutex
	cost    int
	epoch   uint64 // rises with every Forget and Clear
	entries map[K]*list.Element
	recent  list.List // of *entry[K, V], the most recently used in front
}

// It is in the map and in the list at the same time.
type entry[K comparable, V any] struct {
	key     K
	value   V
	cost    int
	expires time.Time // zero: never
}

// New returns a cache of values with a total cost of at most max. The caller chooses the unit: the cost of a value is
// its octets, for example, or 1 where max is a number of values. Nothing is allocated in advance.
func New[K comparable, V any](max int) *Cache[K, V] {
	return &Cache[K, V]{max: max, entries: make(map[K]*list.Element)}
}

// Get returns the value of a key unless it has expired by now.
func (c *Cache[K, V]) Get(key K, now time.Time) (value V, ok bool) {
	value, ok, _ = c.Look(key, now)
	return value, ok
}

// Look is Get for a caller that reads the value from elsewhere if it is not cached. It returns the epoch to be passed to PutSince.
func (c *Cache[K, V]) Look(key K, now time.Time) (value V, ok bool, epoch uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.entries[key]
	if !ok {
		return value, false, c.epoch
	}
	e := element.Value.(*entry[K, V])
	if !e.expires.IsZero() && !now.Before(e.expires) {
		c.remove(element)
		return value, false, c.epoch
	}
	c.recent.MoveToFront(element)
	return e.value, true, c.epoch
}

// Put stores a value that expires at a time; the zero time is never. A value that costs more than the whole cache is not stored.
func (c *Cache[K, V]) Put(key K, value V, cost int, expires time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, value, cost, expires)
}

// PutSince is Put, unless Forget or Clear was called since the Look that returned the epoch: the value may have been read before the
// change that invalidated it.
func (c *Cache[K, V]) PutSince(epoch uint64, key K, value V, cost int, expires time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch == c.epoch {
		c.put(key, value, cost, expires)
	}
}

// put replaces the value of a key and evicts the least recently used ones until the cost is within the bound. It must
// be called with the lock held.
func (c *Cache[K, V]) put(key K, value V, cost int, expires time.Time) {
	if old, ok := c.entries[key]; ok {
		c.remove(old)
	}
	if cost > c.max {
		return
	}
	c.entries[key] = c.recent.PushFront(&entry[K, V]{key, value, cost, expires})
	for c.cost += cost; c.cost > c.max; {
		c.remove(c.recent.Back())
	}
}

// Forget removes the value of a key. It raises the epoch even if the key is not cached, since another goroutine may be
// reading its value.
func (c *Cache[K, V]) Forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	if element, ok := c.entries[key]; ok {
		c.remove(element)
	}
}

// Clear removes all values.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	clear(c.entries)
	c.recent.Init()
	c.cost = 0
}

// remove removes an entry from the map, the list and the cost. It must be called with the lock held.
func (c *Cache[K, V]) remove(element *list.Element) {
	e := c.recent.Remove(element).(*entry[K, V])
	delete(c.entries, e.key)
	c.cost -= e.cost
}
