// Package ratelimit limits what an identity may do in a time (Limiter) and at once (Gauge). It counts in the memory of this process and,
// where processes share a database, together with the others through a Ledger. A call that is over the limit in this process never
// reaches the ledger: an anonymous client must not be able to cause writes to the database by being refused.
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

const shardCount = 256

// Limiter implements the generic cell rate algorithm for any number of limits and identities. It is safe for concurrent use.
//
// Its memory is bounded. An entry that is idle, with all of its limit available again, equals no entry and is dropped; a shard sweeps when it has
// doubled since its last sweep. At the cap a new entry replaces the one, of a few that are looked at, that would be idle first. That
// identity starts anew, so a flood of addresses may let some identities have more than their limit; none is refused for lack of memory.
type Limiter struct {
	clock  clock.Clock
	seed   maphash.Seed
	shards [shardCount]shard
	share  *share // nil: this process counts for itself

	// OnRefused, unless nil, is called for each call of Take that is refused. It must be set before the limiter is used.
	OnRefused func(Name)
}

// New returns a limiter that keeps up to DefaultCap identities.
func New(c clock.Clock) *Limiter { return NewCapped(c, DefaultCap) }

// NewCapped returns a limiter that keeps up to about entries identities.
func NewCapped(c clock.Clock, entries int) *Limiter {
	l := &Limiter{clock: c, seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].cap = max(1, entries/shardCount)
	}
	return l
}

// Take takes n, at least 1, of the named limit for an identity. It passes if n more fit into every window of lim; otherwise it takes
// nothing from any. More than a window's Count never pass at once. The same name and identity may come with a different limit than
// before, as when a plan changes: what was taken still counts.
func (l *Limiter) Take(name Name, identity string, lim Limit, n int) Decision {
	n = max(n, 1)
	d := l.take(name, identity, lim, n)
	if d.OK && l.share != nil && len(lim) > 0 && d.closeToLimit() {
		d = l.confirm(key{name, identity}.own(), lim, n, d)
	}
	if !d.OK && l.OnRefused != nil {
		l.OnRefused(name)
	}
	return d
}

// Return gives back what a Take that passed took.
func (l *Limiter) Return(name Name, identity string, lim Limit, n int) {
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

// Entries returns the number of identities that are kept now.
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

// AddrIdentity returns the identity of a client address: an IPv4 address itself, also if it is mapped into IPv6, and the /64 network of
// an IPv6 address, which is what a single subscriber is given (docs/spec/limits.md#rate-limits).
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

// own returns the key with a copy of the identity, which may be part of a large buffer.
func (k key) own() key { return key{k.name, strings.Clone(k.identity)} }

func micros(d int64) time.Duration { return time.Duration(d) * time.Microsecond }
