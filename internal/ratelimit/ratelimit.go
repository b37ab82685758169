// Package ratelimit counts what an identity does and says when it may go on, to the microsecond, in the memory
// of this process, and where there are several together with them. It refuses to ask anybody about a call that is
// too many already: an anonymous caller must not be able to make it write to the database.
package ratelimit

import (
	"hash/maphash"
	"net/netip"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// DefaultCap is how many identities a Limiter remembers at most, over all limits.
const DefaultCap = 1_000_000

const shardCount = 256

// Limiter holds the state of every identity that is not as fresh as ever. It is safe for concurrent use.
//
// Its memory is bounded. An entry is dropped once it is idle, since it then equals a fresh one; a shard sweeps
// when it has doubled since its last sweep. At the cap the entry with the least left to remember, of a
// handful looked at, gives way to the new one: its identity counts as fresh, so that a flood of addresses may let some
// of them have more, and nobody is refused for want of memory.
type Limiter struct {
	clock  clock.Clock
	seed   maphash.Seed
	shards [shardCount]shard
	share  *share // nil: this process counts for itself
}

// New returns a limiter that remembers DefaultCap identities.
func New(c clock.Clock) *Limiter { return NewCapped(c, DefaultCap) }

// NewCapped returns a limiter that remembers about entries identities at most.
func NewCapped(c clock.Clock, entries int) *Limiter {
	l := &Limiter{clock: c, seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].cap = max(1, entries/shardCount)
	}
	return l
}

// Take asks for n, at least 1, of the named limit for an identity. It passes if every window of lim has room for n; else
// it takes nothing from any. More than a window's Count never pass. The same name and identity may come with another
// limit than before, as when a plan changes: what was taken counts on.
func (l *Limiter) Take(name Name, identity string, lim Limit, n int) Decision {
	n = max(n, 1)
	d := l.take(name, identity, lim, n)
	if d.OK && l.share != nil && len(lim) > 0 && d.near() {
		d = l.confirm(key{name, identity}.own(), lim, n, d)
	}
	return d
}

// Return gives back what a Take took that passed, as if it had not been.
func (l *Limiter) Return(name Name, identity string, lim Limit, n int) {
	k, debts := key{name, identity}.own(), make([]int64, len(lim))
	for i, w := range lim {
		debts[i] = -int64(max(n, 1)) * w.rule().interval
	}
	l.owe(k, debts)
	if l.share != nil {
		l.settle(k, lim, debts)
	}
}

// owe adds to what an identity owes, as far as this process knows.
func (l *Limiter) owe(k key, debts []int64) {
	s := l.shard(k.identity)
	s.mu.Lock()
	defer s.mu.Unlock()
	tats := s.entry(k, len(debts), l.clock.Now().UnixMicro())
	for i, debt := range debts {
		tats[i] += debt
	}
}

// take is Take as far as this process knows.
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
		d.weigh(i, w, tats[i], now, n)
	}
	if !d.OK {
		return d
	}
	for i, w := range lim {
		tats[i] = w.rule().take(tats[i], now, int64(n)).tat
		if l.share != nil && !d.near() {
			l.share.note(window{key{name, identity}.own(), i, w.Per}, int64(n)*w.rule().interval)
		}
	}
	return d
}

// Entries is the number of identities remembered now.
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

// AddrIdentity is the identity of a client address: an IPv4 address itself, also where it came mapped into
// IPv6, and the /64 network of an IPv6 address, since a single subscriber has all of that (decisions §5).
func AddrIdentity(a netip.Addr) string {
	a = a.Unmap()
	if !a.Is6() {
		return a.String()
	}
	network, _ := a.WithZone("").Prefix(64) // fails only for lengths above 128
	return network.String()
}

// key is what is counted together.
type key struct {
	name     Name
	identity string
}

// own detaches the key from the buffer that the identity may be a part of.
func (k key) own() key { return key{k.name, strings.Clone(k.identity)} }

func micros(d int64) time.Duration { return time.Duration(d) * time.Microsecond }
