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

// staleAfter is how long cached rules are used if another process changed them and could not notify this one
// (OnChange). Changes of this process take effect at once. It bounds the delay when a notification is lost; more often
// would read the rows for every few mails of a busy account.
const staleAfter = 5 * time.Second

// The bound of the cache, in instructions of compiled patterns, each of some 100 octets. An account without filters weighs as
// much as a few.
const (
	cacheMax     = 1 << 20
	entryMinimum = 16
)

// cache holds the compiled rules of the accounts that get mail. It evicts the least recently used accounts. It is safe
// for concurrent use.
//
// A cached account has an entry with its own mutex, so that reading the rules of one account does not block the others.
// The order of locking is the entry's mutex, then the cache's.
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
	weight  int          // guarded by the cache's mutex; 0 when evicted
	changes atomic.Int64 // incremented by every change in this process

	// mu guards rules, readAt and seen.
	mu     sync.Mutex // held while the rules are read, so that concurrent callers read them once
	rules  []*rule
	readAt time.Time // zero: never
	seen   int64     // the value of changes when the rules were read
}

// newCache returns an empty cache.
func newCache(d *db.DB, c clock.Clock) *cache {
	return &cache{db: d, clock: c, entries: make(map[id.Account]*list.Element), order: list.New()}
}

// rules returns the compiled active filters of an account, in the order in which they are tried.
//
// changes is loaded before the rows are read: a change that is committed while they are read makes seen outdated, and
// the next call reads again. The caller must not change the slice.
func (c *cache) rules(ctx context.Context, account id.Account) ([]*rule, error) {
	e := c.entry(account)
	e.mu.Lock()
	defer e.mu.Unlock()
	changes, now := e.changes.Load(), c.clock.Now()
	if age := now.Sub(e.readAt); !e.readAt.IsZero() && e.seen == changes && age >= 0 && age < staleAfter {
		return e.rules, nil
	}
	filters, err := many(ctx, c.db, selectActive, account)
	if err != nil {
		return nil, err
	}
	e.rules, e.readAt, e.seen = compiled(filters, e.rules), now, changes
	c.weigh(e)
	return e.rules, nil
}

// compiled returns the rules of filters, and reuses those in before that have not changed. A pattern that an earlier
// version of the program accepted and this one does not is skipped, so that it does not block incoming mail. Compiling
// costs far more than reading the rows.
func compiled(filters []*Filter, before []*rule) []*rule {
	known := make(map[id.Filter]*rule, len(before))
	for _, r := range before {
		known[r.filter] = r
	}
	rules := make([]*rule, 0, len(filters))
	for _, f := range filters {
		version := f.UpdatedAt.UnixMicro()
		r := known[f.ID]
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

// forget removes an account's rules, or all rules if account is "". The compiled rules stay in the entry, so that those
// that have not changed are not compiled again.
func (c *cache) forget(account id.Account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if account == "" {
		for _, at := range c.entries {
			at.Value.(*entry).changes.Add(1)
		}
	}
	if at := c.entries[account]; at != nil {
		at.Value.(*entry).changes.Add(1)
	}
}

// entry returns the entry of an account, a new one if there is none, and marks it as the most recently used.
func (c *cache) entry(account id.Account) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.entries[account]; at != nil {
		c.order.MoveToFront(at)
		return at.Value.(*entry)
	}
	e := &entry{account: account, weight: entryMinimum}
	c.entries[account] = c.order.PushFront(e)
	c.weight += e.weight
	return e
}

// weigh updates the weight of an entry whose rules were read, and evicts others if the cache is too large.
func (c *cache) weigh(e *entry) {
	weight := entryMinimum
	for _, r := range e.rules {
		weight += r.size()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The entry was evicted while its rules were read. Its callers still use them, but it is no longer in the cache.
	if e.weight == 0 {
		return
	}
	c.weight += weight - e.weight
	e.weight = weight
	for c.weight > cacheMax && c.order.Len() > 1 {
		last := c.order.Remove(c.order.Back()).(*entry)
		delete(c.entries, last.account)
		c.weight -= last.weight
		last.weight = 0
	}
}
