package filter

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// staleAfter is how long cached rules are used before they are read again. It bounds how long a change in another process
// goes unnoticed if its notification (OnChange) is lost; changes in this process take effect at once. With a shorter time,
// the rows of a busy account would be read for every few mails.
const staleAfter = 5 * time.Second

// The weights of the cache are in instructions of compiled patterns, each of which takes about 100 octets of memory.
const (
	weightMax  = 1 << 20 // of all entries together
	baseWeight = 16      // of an entry without its rules, for the memory of the entry itself
)

// cache holds the compiled rules of accounts that receive mail. If they exceed weightMax, it evicts the least recently
// used accounts. It is safe for concurrent use.
//
// Each cached account has an entry with its own mutex, so that reading the rules of one account does not block the others.
// A goroutine that needs both locks acquires the entry's mutex first, then the cache's.
type cache struct {
	db    *db.DB
	clock clock.Clock

	// mu guards entries, order, weight, and the weights of the entries.
	mu      sync.Mutex
	entries map[id.Account]*list.Element
	order   *list.List // of *entry, the most recently used first
	weight  int
}

// entry has the rules of one account.
type entry struct {
	account id.Account
	weight  int          // guarded by the mutex of the cache; 0: the entry was evicted
	changes atomic.Int64 // incremented by every change in this process

	// mu guards rules, readAt and seen.
	mu     sync.Mutex // held while the rules are read, so that concurrent callers read them only once
	rules  []*rule
	readAt time.Time // zero: never
	seen   int64     // the value of changes before the rules were read
}

// newCache returns an empty cache.
func newCache(d *db.DB, c clock.Clock) *cache {
	return &cache{db: d, clock: c, entries: make(map[id.Account]*list.Element), order: list.New()}
}

// rules returns the compiled active filters of an account, in the order in which they are tried.
//
// It loads changes before it reads the rows. A change that is committed during the read makes seen outdated, so that the
// next call reads again. The caller must not change the slice.
func (c *cache) rules(ctx context.Context, account id.Account) ([]*rule, error) {
	e := c.entry(account)
	e.mu.Lock()
	defer e.mu.Unlock()
	changes, now := e.changes.Load(), c.clock.Now()
	if age := now.Sub(e.readAt); !e.readAt.IsZero() && e.seen == changes && age >= 0 && age < staleAfter {
		return e.rules, nil
	}
	filters, err := queryFilters(ctx, c.db, selectActive, account)
	if err != nil {
		return nil, err
	}
	e.rules, e.readAt, e.seen = compileRules(filters, e.rules), now, changes
	c.updateWeight(e)
	return e.rules, nil
}

// compileRules returns the rules of filters. It reuses the rules in previous whose filter has not changed, since compiling
// costs far more than reading the rows. A filter with a pattern that does not compile is skipped, so that it does not block
// incoming mail: package regexp of another version of Go may have accepted a pattern that this one does not.
func compileRules(filters []*Filter, previous []*rule) []*rule {
	byFilter := make(map[id.Filter]*rule, len(previous))
	for _, r := range previous {
		byFilter[r.filter] = r
	}
	rules := make([]*rule, 0, len(filters))
	for _, f := range filters {
		version := f.UpdatedAt.UnixMicro()
		r := byFilter[f.ID]
		if r == nil || r.version != version {
			var err error
			if r, err = f.Patterns.compile(); err != nil {
				continue
			}
			r.filter, r.domain, r.version = f.ID, f.Domain, version
		}
		rules = append(rules, r)
	}
	return rules
}

// forget makes the next call of rules read the rows of an account again, or those of all accounts if account is "". The
// compiled rules stay in the entry, so that those that have not changed are not compiled again.
func (c *cache) forget(account id.Account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if account == "" {
		for _, elem := range c.entries {
			elem.Value.(*entry).changes.Add(1)
		}
	}
	if elem := c.entries[account]; elem != nil {
		elem.Value.(*entry).changes.Add(1)
	}
}

// entry returns the entry of an account, after creating it if necessary, and marks it as the most recently used.
func (c *cache) entry(account id.Account) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if elem := c.entries[account]; elem != nil {
		c.order.MoveToFront(elem)
		return elem.Value.(*entry)
	}
	e := &entry{account: account, weight: baseWeight}
	c.entries[account] = c.order.PushFront(e)
	c.weight += e.weight
	return e
}

// updateWeight updates the weight of an entry after its rules were read, and evicts the least recently used entries while
// the cache is too large. The caller holds the mutex of e.
func (c *cache) updateWeight(e *entry) {
	weight := baseWeight
	for _, r := range e.rules {
		weight += r.size()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.weight == 0 { // evicted while its rules were read: its callers still use them, but it is no longer in the cache
		return
	}
	c.weight += weight - e.weight
	e.weight = weight
	for c.weight > weightMax && c.order.Len() > 1 {
		oldest := c.order.Remove(c.order.Back()).(*entry)
		delete(c.entries, oldest.account)
		c.weight -= oldest.weight
		oldest.weight = 0
	}
}
