package resolver

import (
	"container/list"
	"sync"
	"time"
)

// cache keeps answers until they expire, and drops those not used for longest when there are too many. Its bound is in
// bytes because a stranger chooses how long the answers are.
type cache struct {
	limit int

	mu      sync.Mutex
	bytes   int
	entries map[question]*list.Element
	recent  list.List // of *entry, the latest used in front
}

type entry struct {
	question
	answer
	expires time.Time
	bytes   int
}

func (c *cache) get(q question, now time.Time) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[q]
	if !ok {
		return answer{}, false
	}
	e := el.Value.(*entry)
	if !now.Before(e.expires) {
		c.remove(el)
		return answer{}, false
	}
	c.recent.MoveToFront(el)
	return e.answer, true
}

func (c *cache) has(q question, now time.Time) bool {
	_, ok := c.get(q, now)
	return ok
}

// maxShare is the part of the cache a single answer may take: 1/maxShare.
const maxShare = 64

func (c *cache) put(q question, a answer, now time.Time) {
	e := &entry{question: q, answer: a, expires: now.Add(a.ttl), bytes: a.size() + len(q.name)}
	if e.bytes > c.limit/maxShare {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[q]; ok {
		c.remove(old)
	}
	if c.entries == nil {
		c.entries = make(map[question]*list.Element)
	}
	c.entries[q] = c.recent.PushFront(e)
	c.bytes += e.bytes
	for c.bytes > c.limit {
		c.remove(c.recent.Back())
	}
}

// remove must be called with the lock held.
func (c *cache) remove(el *list.Element) {
	e := c.recent.Remove(el).(*entry)
	delete(c.entries, e.question)
	c.bytes -= e.bytes
}
