// Package ratelimit bounds what an identity (a client address, an account, a developer key) may do: a Limiter bounds
// how often, a Gauge how much at once.
//
// File limits.go names every limit; a Limit is the configured value, one or more windows such as 30/1m. Limiter.Take
// returns a Decision, which carries the response fields and the problem of a refusal. Gauge.Acquire returns a function
// that releases what was acquired.
//
// Both count in the memory of this process, which is bounded, and lose their counts at a restart. After Share,
// processes that use one database also count together through a Ledger (package ledger): Run then sends the counts in
// batches, and calls near their limit ask the ledger before they are allowed (docs/spec/limits.md#several-processes).
// A call over the limit of this process never reaches the ledger: an anonymous client must not be able to cause writes
// to the database with calls that are refused. While the ledger fails, each process counts alone: an outage never refuses a call.
//
// Callers choose the identity and pass the limit with each call, since limits of keys and accounts depend on their
// plan.
package ratelimit

import (
	"hash/maphash"
	"net/netip"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// DefaultCap is the number of identities that a Limiter keeps at most, over all limits.
const DefaultCap = 1_000_000

const shardCount = 256 // one lock each, so that calls of different identities rarely wait for each other

// Limiter implements the generic cell rate algorithm for any number of limits and identities. It is safe for
// concurrent use.
//
// Its memory is bounded. An entry whose limit is available in full again behaves like no entry and is dropped; a shard
// sweeps such entries when it has doubled since its last sweep. At the cap a new entry replaces another one: of eight
// that are looked at, the one whose limit is available in full first. That identity starts anew, so a flood of
// addresses may let some identities have more than their limit; none is refused for lack of memory.
type Limiter struct {
	clock  clock.Clock
	seed   maphash.Seed // random, so that clients cannot choose identities that fall into one shard
	shards [shardCount]shard
	share  *share // nil: this process counts for itself

	// OnRefused, unless nil, is called for each call of Take that is refused, on the goroutine of the call and without
	// a lock. It must be set before the limiter is used.
	OnRefused func(Name)
}

// New returns a limiter that keeps up to DefaultCap identities. It starts no goroutine.
func New(c clock.Clock) *Limiter { return NewCapped(c, DefaultCap) }

// NewCapped returns a limiter that keeps up to about entries identities: each of the 256 shards has an equal part of
// them and keeps at least one. Identities do not spread over the shards evenly, so eviction may begin a little
// earlier.
func NewCapped(c clock.Clock, entries int) *Limiter {
	l := &Limiter{clock: c, seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].cap = max(1, entries/shardCount)
	}
	return l
}

// Take takes n (less than 1 counts as 1) of the named limit for an identity. It passes if n more fit into every window
// of lim; otherwise it takes nothing from any. More than a window's Count never pass at once, so a larger n is always
// refused. The same name and identity may come with a different limit than before, as when a plan changes: what was
// taken still counts.
//
// What the /64 of an IPv6 client takes is taken from its /48 as well, which has NetworkShare times the limit.
//
// Near the limit of a shared limiter Take waits for the ledger, for at most two seconds.
func (l *Limiter) Take(name Name, identity string, lim Limit, n int) Decision {
	d := l.takeOne(name, identity, lim, n)
	if network, ok := NetworkOf(identity); ok && d.OK && len(lim) > 0 {
		if whole := l.takeOne(name, network, lim.times(NetworkShare), n); !whole.OK {
			l.returnOne(name, identity, lim, n)
			d = whole
		}
	}
	if !d.OK && l.OnRefused != nil {
		l.OnRefused(name)
	}
	return d
}

// takeOne is Take for one identity alone.
func (l *Limiter) takeOne(name Name, identity string, lim Limit, n int) Decision {
	n = max(n, 1)
	d := l.take(name, identity, lim, n)
	if d.OK && l.share != nil && len(lim) > 0 && d.closeToLimit() {
		d = l.confirm(key{name, identity}.own(), lim, n, d)
	}
	return d
}

// Return gives back what a Take that passed took, with the same arguments. It is for calls that turned out not to
// count, such as a two-factor attempt with the right code. With a shared limiter it waits for the ledger, for at most two
// seconds.
func (l *Limiter) Return(name Name, identity string, lim Limit, n int) {
	l.returnOne(name, identity, lim, n)
	if network, ok := NetworkOf(identity); ok && len(lim) > 0 {
		l.returnOne(name, network, lim.times(NetworkShare), n)
	}
}

// returnOne is Return for one identity alone.
func (l *Limiter) returnOne(name Name, identity string, lim Limit, n int) {
	k, debts := key{name, identity}.own(), make([]int64, len(lim))
	for i, w := range lim {
		debts[i] = -int64(max(n, 1)) * w.rule().interval
	}
	l.adjust(k, debts)
	if l.share != nil {
		l.postNow(k, lim, debts)
	}
}

// adjust adds debts, one for each window, to an identity's times in this process.
func (l *Limiter) adjust(k key, debts []int64) {
	s := l.shard(k.identity)
	s.mu.Lock()
	defer s.mu.Unlock()
	tats := s.entry(k, len(debts), l.clock.Now().UnixMicro())
	for i, debt := range debts {
		tats[i] += debt
	}
}

// take is Take within this process.
func (l *Limiter) take(name Name, identity string, lim Limit, n int) Decision {
	d := Decision{OK: true, Name: name, Policy: lim}
	if len(lim) == 0 {
		return d
	}
	now, s := l.clock.Now().UnixMicro(), l.shard(identity)
	s.mu.Lock()
	defer s.mu.Unlock()
	// The windows are checked before any of them is changed, so that a refused call takes nothing from any.
	tats := s.entry(key{name, identity}, len(lim), now)
	for i, w := range lim {
		tats[i] = w.rule().clamp(tats[i], now)
		d.consider(i, w, tats[i], now, n)
	}
	if !d.OK {
		return d
	}
	for i, w := range lim {
		tats[i] = w.rule().take(tats[i], now, int64(n)).tat
		if l.share != nil && !d.closeToLimit() {
			l.share.add(window{key{name, identity}.own(), i, w.Per}, int64(n)*w.rule().interval)
		}
	}
	return d
}

// Entries returns the number of entries that are kept now, one for each limit and identity, for the metrics.
func (l *Limiter) Entries() int {
	sum := 0
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		sum += len(s.tats)
		s.mu.Unlock()
	}
	return sum
}

func (l *Limiter) shard(identity string) *shard {
	return &l.shards[maphash.String(l.seed, identity)%shardCount]
}

// AddrIdentity returns the identity of a client address: an IPv4 address itself, also if it is mapped into IPv6, and
// the /64 network of an IPv6 address, which is what a single subscriber is given (docs/spec/limits.md#rate-limits).
// Without it a subscriber could use each of 2⁶⁴ addresses as an identity of its own. Take and Acquire count the /48 beside it.
func AddrIdentity(a netip.Addr) string {
	a = a.Unmap()
	if !a.Is6() {
		return a.String()
	}
	network, _ := a.WithZone("").Prefix(64) // fails only for lengths above 128
	return network.String()
}

// key identifies what is counted together.
type key struct {
	name     Name
	identity string
}

// own returns the key with a copy of the identity. An identity is often a substring of a request; keeping it in a map
// would keep the whole request in memory.
func (k key) own() key { return key{k.name, strings.Clone(k.identity)} }

// micros converts microseconds, in which this package and its ledger calculate, to a Duration.
func micros(d int64) time.Duration { return time.Duration(d) * time.Microsecond }
