// Package resolver is the DNS client of the whole service: a stub (RFC 1034 §5.3.1) that asks a recursive resolver,
// remembers what it said for a while, and tells an authoritative "no" apart from "cannot say now". It refuses to walk
// the delegations itself, to validate DNSSEC, to read a hosts file and to apply search lists: every name is absolute.
//
// Errors are always [*net.DNSError], never wrapped, since that is what the SPF and DKIM libraries look for. IsNotFound
// means that the name or the record does not exist (NXDOMAIN, or NODATA of RFC 2308); IsTemporary or IsTimeout mean that
// asking again later may help. No error has neither.
package resolver

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Config says whom to ask and how patiently. The zero value asks the system's resolver with the defaults below.
type Config struct {
	Addr        string        // host or host:port of the recursive resolver; empty: those of /etc/resolv.conf
	Clock       clock.Clock   // for the cache and the breaker; nil: the system's
	Timeout     time.Duration // for one attempt over the network; 0: 2 s
	Attempts    int           // rounds over the servers before giving up; 0: 2
	CacheBytes  int           // approximate memory for answers; 0: 16 MiB; negative: nothing is remembered
	MaxInFlight int           // queries under way at once, more fail as temporary; 0: 1,024
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = clock.System()
	}
	c.Timeout = orDefault(c.Timeout, 2*time.Second)
	c.Attempts = orDefault(c.Attempts, 2)
	c.CacheBytes = orDefault(c.CacheBytes, 16<<20)
	c.MaxInFlight = orDefault(c.MaxInFlight, 1024)
	return c
}

func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Resolver answers questions from its cache or asks for them. It is safe for concurrent use.
type Resolver struct {
	cfg     Config
	servers servers
	cache   cache
	flights flights
}

// New makes a Resolver. It asks nothing and never fails: without a usable server every look-up is a temporary failure.
func New(cfg Config) *Resolver {
	cfg = cfg.withDefaults()
	r := &Resolver{cfg: cfg}
	r.cache.limit = cfg.CacheBytes
	r.flights.limit = cfg.MaxInFlight
	if cfg.Addr != "" {
		r.servers.set([]string{withPort(cfg.Addr)})
	} else {
		r.servers.file = resolvConf
	}
	return r
}

type freshKey struct{}

// Fresh returns a context whose look-ups skip what is remembered and do not join a query already under way. What they
// learn is remembered for others. The recursive resolver behind may still answer from a cache of its own.
func Fresh(ctx context.Context) context.Context {
	return context.WithValue(ctx, freshKey{}, true)
}

func isFresh(ctx context.Context) bool {
	fresh, _ := ctx.Value(freshKey{}).(bool)
	return fresh
}

// lookup is the way of every question: what needs no asking, then the cache, then a query that may be shared.
func (r *Resolver) lookup(ctx context.Context, q question) ([]record, error) {
	if q.name == "" || isSpecial(q.name) {
		return nil, notFound(q)
	}
	fresh := isFresh(ctx)
	if !fresh {
		if a, ok := r.cache.get(q, r.cfg.Clock.Now()); ok {
			return a.result(q)
		}
	}
	f := r.flights.join(q, fresh, func() answer { return r.resolve(q, fresh) })
	if f == nil {
		return nil, temporary(q, "too many queries under way")
	}
	select {
	case <-f.done:
		return f.answer.result(q)
	case <-ctx.Done():
		return nil, abandoned(q, ctx.Err())
	}
}

// resolve runs detached from the callers that wait for it, so that a caller with little patience does not throw away an
// answer the next one needs, and so that the breaker learns of servers slower than any caller. It is bounded by Timeout,
// Attempts and the number of servers.
func (r *Resolver) resolve(q question, fresh bool) answer {
	if !fresh { // the same query may have ended since the caller looked into the cache
		if a, ok := r.cache.get(q, r.cfg.Clock.Now()); ok {
			return a
		}
	}
	a := r.chase(context.Background(), q)
	r.cache.put(q, a, r.cfg.Clock.Now())
	return a
}

// maxChain bounds CNAME records followed for one question, as most recursive resolvers do.
const maxChain = 10

// chase follows a CNAME chain that the server left unfinished.
func (r *Resolver) chase(ctx context.Context, q question) answer {
	ttl := maxTTL
	at := q
	for range maxChain {
		a := r.ask(ctx, at)
		a.ttl = min(a.ttl, ttl)
		if a.alias == "" {
			return a
		}
		ttl, at.name = a.ttl, a.alias
		if isSpecial(at.name) {
			return answer{err: notFound(q), ttl: ttl}
		}
	}
	return answer{err: temporary(q, "too many aliases"), ttl: failureTTL}
}
