// Package budget bounds the memory that clients can make the process use: mail being received, request bodies being
// decoded, responses being written and batches being stored (docs/spec/limits.md#memory). A Lease is a number of
// octets of a Budget. Work acquires its octets before it allocates them, and waits, or is refused, while others hold
// them. Package budget does not depend on what the memory is used for, and allocates none itself: leases that are not
// released are lost until the process ends.
//
// No owner, which is a client address, can keep the others waiting. An owner that holds its share waits for its own
// leases to be released, outside the queue, and the owners in the queue are served one request each in turn. A part of
// the budget is a reserve that only small requests can use, so that they do not wait behind large ones.
//
// There is no deadlock, since a holder that waits for more never holds what it waits for. A small lease may wait to
// become a large one (Expand); small leases cannot hold the memory of large ones. A large lease may wait for what
// finishing its work needs (Finish), which comes from a part that nothing else uses; afterwards it does not wait
// again.
package budget

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrExhausted is returned when the octets did not become free in time. Callers map it to problem server.unavailable over HTTP, and to
// 452 4.3.1 over SMTP.
var ErrExhausted = errors.New("memory budget exhausted")

// Kind says what memory is used for. It is a label of the metrics and has no part in the decision.
type Kind uint8

// The kinds of use.
const (
	Mail     Kind = iota // mail from the first octet of its content on, until it is ready to be stored
	Request              // bodies of HTTP requests, and what they are decoded into
	Response             // bodies of HTTP responses until they are written
	Batch                // mail that is being stored, or waits to be, with the statements and transactions that do it
	kinds
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Mail, Request, Response, Batch} }

// String is the label of the metrics.
func (k Kind) String() string {
	switch k {
	case Mail:
		return "mail"
	case Request:
		return "request"
	case Response:
		return "response"
	case Batch:
		return "batch"
	default:
		return fmt.Sprintf("kind %d", uint8(k))
	}
}

// part is a part of the budget. large and small share one half: together they never hold more than it.
type part uint8

const (
	large   part = iota // half of the budget, for requests of any size
	small               // a quarter of that half, for small requests
	reserve             // an eighth, for small requests when there is nothing left of the half
	finish              // three eighths, for Finish
	parts
)

// least is the size in octets of a request that is small whatever the budget is.
const least = 64 << 10

// Budget is a number of octets that is shared out among leases. Its methods may be called by many goroutines.
type Budget struct {
	total, general, small int64        // octets: all, the half of large and small, and the largest small request
	limit, share          [parts]int64 // octets: what a part has, and what one owner may hold of it with several leases

	// mu guards the fields below, and the fields of all leases and accounts.
	mu      sync.Mutex
	used    [parts]int64 // octets in use, by part
	kinds   [kinds]int64 // octets in use, by kind
	refused [kinds]int64
	owners  map[string]*account // those that hold something or wait
	lines   [parts]line         // small requests that the reserve cannot take either wait in that of small
}

// account is what an owner holds and waits for.
type account struct {
	held [parts]int64
	uses int // leases, and requests in line
}

// New returns a budget of total octets, at least 1 MiB. It starts no goroutine.
func New(total int64) *Budget {
	total = max(total, 1<<20)
	b := &Budget{total: total, general: total / 2, small: max(total/256, least), owners: make(map[string]*account)}
	b.limit = [parts]int64{large: b.general, small: b.general / 4, reserve: total / 8, finish: total / 8 * 3}
	for p, limit := range b.limit {
		b.share[p] = limit / 4
	}
	b.share[finish] = b.limit[finish] // it is not held for long, and turns are taken
	return b
}

// Total returns the budget in octets.
func (b *Budget) Total() int64 { return b.total }

// Used returns the number of octets held by leases of kind k.
func (b *Budget) Used(k Kind) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kinds[k]
}

// InUse returns the number of octets held by all leases.
func (b *Budget) InUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sum int64
	for _, n := range b.kinds {
		sum += n
	}
	return sum
}

// Refused returns how many requests for memory of kind k were still waiting when their context ended.
func (b *Budget) Refused(k Kind) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused[k]
}

// Small returns the size of the largest request that counts as small: large requests of other owners do not delay it.
func (b *Budget) Small() int64 { return b.small }

// Most returns the most octets that Acquire can get: a request for more is cut down to it.
func (b *Budget) Most() int64 { return b.limit[large] - b.limit[small] }

// Acquire waits until owner can have n octets and returns a lease on them; the caller must release it. If ctx ends before, it returns
// ErrExhausted. An owner is a client address as ratelimit.AddrIdentity writes it, or "" for work of the process itself. A request for more
// than can be had is cut down to three eighths of the budget.
//
// A caller must not hold another lease while it waits: what it cannot do without, it acquires in one request.
func (b *Budget) Acquire(ctx context.Context, k Kind, owner string, n int64) (*Lease, error) {
	l, w := b.acquire(k, owner, n)
	if err := b.wait(ctx, w); err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// TryAcquire is Acquire without waiting: it returns nil if the octets are not free, or if others wait for them.
func (b *Budget) TryAcquire(k Kind, owner string, n int64) *Lease {
	l, w := b.acquire(k, owner, n)
	if !b.withdraw(w) {
		l.Release()
		return nil
	}
	return l
}

// acquire creates a lease. The waiter is nil if the lease has its octets already.
func (b *Budget) acquire(k Kind, owner string, n int64) (*Lease, *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.owners[owner]
	if a == nil {
		a = new(account)
		b.owners[owner] = a
	}
	a.uses++
	l := &Lease{budget: b, account: a, owner: owner, kind: k}
	p := large
	if n <= b.small {
		p = small
	}
	return l, b.request(l, p, n)
}

// request adds n octets to a lease, or puts the request in the queue and returns it. The caller holds the lock.
func (b *Budget) request(l *Lease, p part, n int64) *waiter {
	most := b.limit[p]
	if p == large {
		most = b.Most() // so that it fits whatever small leases there are
	}
	n = min(max(n, 0), most)
	if b.lines[p].empty() && b.lines[large].empty() && b.grant(l, p, n, true) {
		return nil
	}
	w := &waiter{lease: l, part: p, n: n, granted: make(chan struct{})}
	b.lines[p].add(w)
	b.serve() // those in line may be waiting for their own leases alone
	return w
}

// wait returns when a request is granted. If ctx ends before, it removes the request from the queue and returns
// ErrExhausted.
func (b *Budget) wait(ctx context.Context, w *waiter) error {
	if w == nil {
		return nil
	}
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	if b.withdraw(w) {
		return nil
	}
	b.mu.Lock()
	b.refused[w.lease.kind]++
	b.mu.Unlock()
	return fmt.Errorf("%w: %d octets for a %s: %w", ErrExhausted, w.n, w.lease.kind, context.Cause(ctx))
}

// withdraw removes a request from the queue. It reports whether the request had been granted before.
func (b *Budget) withdraw(w *waiter) (granted bool) {
	if w == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.granted:
		return true
	default:
	}
	b.lines[w.part].remove(w)
	b.serve() // those behind it may fit
	return false
}

// grant adds n octets of a part to a lease if they are free and within the owner's share. A small request may have
// them from the reserve. general is false if a large request waits for the half that large and small share, which
// small ones must then leave to it. The caller holds the lock.
func (b *Budget) grant(l *Lease, p part, n int64, general bool) bool {
	switch {
	case (general || p != small) && b.within(l, p, n) && b.free(p, n):
	case p == small && b.within(l, reserve, n) && b.free(reserve, n):
		p = reserve
	default:
		return false
	}
	b.add(l, p, n)
	return true
}

// free reports whether n octets of a part are free.
func (b *Budget) free(p part, n int64) bool {
	if (p == large || p == small) && b.used[large]+b.used[small]+n > b.general {
		return false
	}
	return b.used[p]+n <= b.limit[p]
}

// within reports whether n more octets are within the share of a lease's owner. One that holds nothing may have a single lease of any
// size, and that may grow.
func (b *Budget) within(l *Lease, p part, n int64) bool {
	held := l.account.held[p]
	return held == l.held[p] || held+n <= b.share[p]
}

// add adds n octets of a part to a lease; n may be below zero.
func (b *Budget) add(l *Lease, p part, n int64) {
	b.used[p] += n
	b.kinds[l.kind] += n
	l.account.held[p] += n
	l.held[p] += n
}
