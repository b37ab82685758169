// Package resolver is the DNS client of the whole service: the standard library's resolver, pointed at one recursive
// resolver, with a cache, bounds on the queries in progress and a circuit breaker in front of it
// (docs/decisions/0004).
//
// Identical questions share a query. A query does not end with its caller's context, since its answer serves the next
// caller; each has a time-out of its own. While the server does not respond, the breaker makes lookups fail at once, so
// that mail is not delayed. Before it does so it asks for the root, which every server answers: names whose own servers are
// silent, such as those of a sender who wants that, must not stop the lookups of others.
//
// Errors are always [*net.DNSError], never wrapped, since that is what the SPF and DKIM libraries look for. IsNotFound
// means that the name or the record does not exist (NXDOMAIN, or NODATA of RFC 2308); IsTemporary or IsTimeout means
// that asking again later may help. Every error is one or the other.
package resolver

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/gonebox/gonebox/internal/cache"
	"github.com/gonebox/gonebox/internal/clock"
)

// ErrNoServer is wrapped by the errors of lookups that were not sent because the server has not responded lately.
var ErrNoServer = errors.New("no DNS server answers")

// How long answers are cached. The standard library does not return their TTL, and the recursive resolver behind has a
// cache that observes it; these times bound how much longer an old answer can be used here.
const (
	positiveTTL = time.Minute
	negativeTTL = 30 * time.Second
	failureTTL  = 5 * time.Second // RFC 9520 §3.2: at least a second, at most five minutes
)

// Config names the resolver to ask, and bounds. The zero value asks the system's resolver with the defaults below.
type Config struct {
	Addr        string        // host or host:port of the recursive resolver; empty: those of /etc/resolv.conf
	Clock       clock.Clock   // for the cache and the breaker; nil: the system's
	Timeout     time.Duration // for one attempt; 0: 2 s
	Attempts    int           // attempts before giving up; 0: 2
	CacheBytes  int           // approximate memory for answers; 0: 16 MiB
	MaxInFlight int           // queries in progress at once, more fail as temporary; 0: 1,024
	MaxOfDomain int           // of them, those for names of one registered domain; 0: no bound
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

// orDefault returns v, or otherwise for the zero value.
func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Resolver answers questions from its cache or asks for them. It is safe for concurrent use.
type Resolver struct {
	cfg      Config
	net      net.Resolver
	answers  *cache.Cache[question, answer]
	flights  singleflight.Group // identical questions share a query
	inFlight chan struct{}      // has an element for each query in progress
	shares   shares
	breaker  breaker
}

// New returns a Resolver. It sends nothing and never fails: without a usable server every lookup is a temporary
// failure. It needs no Close.
func New(cfg Config) *Resolver {
	cfg = cfg.withDefaults()
	r := &Resolver{cfg: cfg, answers: cache.New[question, answer](cfg.CacheBytes), inFlight: make(chan struct{}, cfg.MaxInFlight)}
	r.shares = shares{counts: make(map[string]int), most: cfg.MaxOfDomain}
	r.net.PreferGo = true
	if cfg.Addr != "" {
		server := withPort(cfg.Addr)
		r.net.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, server)
		}
	}
	return r
}

// withPort adds the DNS port to an address given without one.
func withPort(addr string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(addr, "53")
}

type freshKey struct{}

// Fresh returns a context whose lookups skip the cache and do not join a query in progress. Their answers are cached for others. The
// recursive resolver behind may still answer from a cache of its own.
func Fresh(ctx context.Context) context.Context {
	return context.WithValue(ctx, freshKey{}, true)
}

// isFresh reports whether ctx comes from Fresh.
func isFresh(ctx context.Context) bool {
	fresh, _ := ctx.Value(freshKey{}).(bool)
	return fresh
}

// question is the key of the cache. The name is in lower case with a trailing dot, so that no search list applies.
type question struct{ kind, name string }

// failed returns a temporary error for a question that got no answer.
func (q question) failed(cause error) *net.DNSError {
	return &net.DNSError{Err: cause.Error(), UnwrapErr: cause, Name: strings.TrimSuffix(q.name, "."), IsTemporary: true}
}

// answer is what the network says to a question: a value that the Lookup methods copy before they return it, or an error.
type answer struct {
	value any
	size  int // octets of the value, about
	err   *net.DNSError
}

// ttl returns how long an answer is cached.
func (a answer) ttl() time.Duration {
	switch {
	case a.err == nil:
		return positiveTTL
	case a.err.IsNotFound:
		return negativeTTL
	}
	return failureTTL
}

// ask answers a question from the cache, or with read, which asks the network. size returns the octets that a value
// takes in the cache. A caller may stop waiting when its context ends; the query goes on, since its answer serves the
// next one.
func ask[T any](ctx context.Context, r *Resolver, kind, name string, read func(context.Context, string) (T, error), size func(T) int) (value T, err error) {
	q := question{kind, strings.ToLower(strings.TrimSuffix(name, ".")) + "."}
	if isSpecial(q.name) {
		return value, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	flights := &r.flights
	if isFresh(ctx) {
		flights = new(singleflight.Group)
	} else if a, ok := r.answers.Get(q, r.cfg.Clock.Now()); ok {
		return result[T](a)
	}
	query := func() (any, error) {
		if a, ok := r.answers.Get(q, r.cfg.Clock.Now()); ok && !isFresh(ctx) {
			return a, nil // a query that ended since the look above
		}
		return r.query(q, func(ctx context.Context) (any, int, error) {
			v, err := read(ctx, q.name)
			return v, size(v), err
		}), nil
	}
	select {
	case done := <-flights.DoChan(q.kind+" "+q.name, query):
		return result[T](done.Val.(answer))
	case <-ctx.Done():
		e := q.failed(ctx.Err())
		e.IsTimeout = errors.Is(ctx.Err(), context.DeadlineExceeded)
		return value, e
	}
}

// result is an answer as callers get it. The error is a copy, since they may change it.
func result[T any](a answer) (value T, err error) {
	if a.err != nil {
		e := *a.err
		return value, &e
	}
	return a.value.(T), nil
}

// query asks the network, at most Attempts times while there is no answer, and caches the result, also a failure. It
// does not end with the context of a caller, so that the breaker learns of servers that are slower than any caller. It
// runs on a goroutine of singleflight.
func (r *Resolver) query(q question, read func(context.Context) (value any, size int, err error)) (a answer) {
	domain, ok := r.shares.take(q.name)
	if !ok {
		return answer{err: q.failed(errors.New("too many DNS queries for one domain in progress"))}
	}
	defer r.shares.give(domain)
	select {
	case r.inFlight <- struct{}{}:
		defer func() { <-r.inFlight }()
	default:
		return answer{err: q.failed(errors.New("too many DNS queries in progress"))}
	}
	for range r.cfg.Attempts {
		if !r.breaker.admit(r.cfg.Clock.Now()) {
			a = answer{err: q.failed(ErrNoServer)}
			break
		}
		ctx, cancel := context.WithTimeout(context.Background(), r.cfg.Timeout)
		value, size, err := read(ctx)
		cancel()
		a = answer{value: value, size: size}
		if err != nil {
			a = answer{err: normalized(q, err)}
		}
		ok := a.err == nil || answered(a.err)
		if !r.breaker.settle(ok, r.cfg.Clock.Now()) && r.isAlive() {
			r.breaker.settle(true, r.cfg.Clock.Now()) // only the names were without an answer
		}
		if a.err == nil || !a.err.IsTimeout {
			break
		}
	}
	r.answers.Put(q, a, len(q.name)+256+a.size, r.cfg.Clock.Now().Add(a.ttl()))
	return a
}

// answered reports whether an error is that of a server that answered, be it with a failure. The standard library
// distinguishes these by their text only; anything else counts as silence.
func answered(e *net.DNSError) bool {
	return e.IsNotFound || e.Err == "server misbehaving" || e.Err == "lame referral"
}

// normalized makes an error of the standard library either "not found" or temporary.
func normalized(q question, err error) *net.DNSError {
	e, ok := errors.AsType[*net.DNSError](err)
	if !ok {
		return q.failed(err)
	}
	return &net.DNSError{ // without the server's name, which is that of resolv.conf whatever Addr says
		Err: e.Err, UnwrapErr: e.UnwrapErr, Name: strings.TrimSuffix(q.name, "."), IsNotFound: e.IsNotFound, IsTemporary: !e.IsNotFound, IsTimeout: e.IsTimeout,
	}
}

// isSpecial reports whether a name is the root or lies under a top-level domain that a stub must not ask for (RFC 6761 §6.3 and §6.4).
func isSpecial(name string) bool {
	name = strings.TrimSuffix(name, ".")
	top := name[strings.LastIndexByte(name, '.')+1:]
	return name == "" || top == "localhost" || top == "invalid"
}
