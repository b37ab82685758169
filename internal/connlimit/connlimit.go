// Package connlimit limits the number of open client connections, per client address and per process
// (docs/spec/limits.md#connections). Each connection takes a file descriptor, and the process needs some for its
// database and files. The package does not depend on the protocol.
//
// A Pool counts the connections of all listeners of a process. Pool.Listen wraps a listener, so that its Accept returns
// only connections within the limits. When the process has reached its limit, a new connection replaces the oldest one
// of the address with the most connections, if the new connection's address has fewer. A listener with Options.Reserve
// also accepts a few connections over the limits. ExceededLimit identifies these, so that an HTTP server can respond to
// health checks on them and refuse other requests with a status (docs/decisions/0036). A connection counts until it is
// closed.
package connlimit

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Limit identifies the limit that a connection exceeds. Only a listener with Options.Reserve accepts connections that
// exceed one.
type Limit uint8

// The limits.
const (
	WithinLimits Limit = iota // the connection exceeds no limit
	AddressLimit              // the client's address has reached Options.PerAddress
	ProcessLimit              // the process has reached its limit, and no other address has enough connections to lose one
)

// reserved is how many connections over the limits may be open at once. When one more is accepted, the oldest of them
// is closed.
const reserved = 16

// Pool counts the connections of all listeners of a process. It is safe for concurrent use. Each process counts
// separately.
type Pool struct {
	max int // limit of open; 0 means no limit

	mu        sync.Mutex // guards the fields below
	open      int        // connections within the limits, including those from exempt networks
	addresses map[netip.Prefix]*address
	networks  map[network]int // connections within the limits of each /48
	overLimit []*Conn         // connections that exceed a limit, oldest first; not counted in open
}

// address holds the connections of one client address that are within the limits.
type address struct{ conns []*Conn } // oldest first

// NewPool returns a pool of at most max connections within the limits; 0 means no limit.
func NewPool(max int) *Pool {
	return &Pool{max: max, addresses: make(map[netip.Prefix]*address), networks: make(map[network]int)}
}

// Options configure one listener.
type Options struct {
	PerAddress int            // maximum number of connections from an IPv4 address or IPv6 /64 to this listener; 16 times that from an IPv6 /48; 0 means no limit
	Exempt     []netip.Prefix // networks of trusted proxies, to whose addresses no limit applies
	Reserve    bool           // accept up to 16 connections over the limits, see ExceededLimit; otherwise they are closed at once
}

// Listen returns a listener that accepts connections of l that are within the limits. Closing it closes l.
func (p *Pool) Listen(l net.Listener, o Options) net.Listener { return &listener{l, p, o} }

type listener struct {
	net.Listener
	pool *Pool
	o    Options
}

// maxEvictions is how many connections one call of Accept closes for lack of a file descriptor before it returns the
// error.
const maxEvictions = 8

// Accept waits for a connection within the limits and closes the others. If the process has no file descriptor left,
// Accept closes the oldest connection of the address with the most connections and tries again.
func (l *listener) Accept() (net.Conn, error) {
	for evictions := 0; ; {
		conn, err := l.Listener.Accept()
		if err != nil {
			if outOfDescriptors(err) && evictions < maxEvictions && l.pool.closeOldest() {
				evictions++
				continue
			}
			return nil, err
		}
		if c := l.pool.admit(l, conn); c != nil {
			return c, nil
		}
		_ = conn.Close()
	}
}

// Conn is a connection that its Pool counts until it is closed.
type Conn struct {
	net.Conn
	pool     *Pool
	listener *listener
	client   netip.Prefix // zero if the address is in an exempt network
	exceeded Limit
	once     sync.Once // makes Close remove the connection from the pool only once
}

// Close closes the connection and removes it from its Pool. It may be called more than once.
func (c *Conn) Close() error {
	c.once.Do(func() { c.pool.remove(c) })
	return c.Conn.Close()
}

// CloseWrite shuts down the writing side of the connection, so that TCP sends a FIN. It does nothing if the underlying
// connection has no CloseWrite method.
func (c *Conn) CloseWrite() error {
	if closer, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return closer.CloseWrite()
	}
	return nil
}

type limitKey struct{}

// ConnContext returns a context that carries the limit that conn exceeds, for ExceededLimit. It is meant for
// http.Server.ConnContext. It also recognises a connection below TLS.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok { // a *tls.Conn
		conn = secure.NetConn()
	}
	if c, ok := conn.(*Conn); ok && c.exceeded != WithinLimits {
		return context.WithValue(ctx, limitKey{}, c.exceeded)
	}
	return ctx
}

// ExceededLimit returns the limit that the connection of a request exceeds, or WithinLimits. ctx is the context of the
// request.
func ExceededLimit(ctx context.Context) Limit {
	limit, _ := ctx.Value(limitKey{}).(Limit)
	return limit
}

// admit adds a connection to the pool. It returns nil if the limits do not allow that; the caller must then close conn.
func (p *Pool) admit(l *listener, conn net.Conn) *Conn {
	c := &Conn{Conn: conn, pool: p, listener: l}
	if ip := addrOf(conn.RemoteAddr()); !slices.ContainsFunc(l.o.Exempt, func(n netip.Prefix) bool { return n.Contains(ip) }) {
		c.client = clientOf(ip)
	}
	p.mu.Lock()
	evicted, ok := p.enter(c)
	p.mu.Unlock()
	if evicted != nil {
		_ = evicted.Close()
	}
	if !ok {
		return nil
	}
	return c
}

// enter adds a connection to the pool, or returns false if the limits do not allow that. If evicted is not nil, it is
// another connection, which c replaces. The caller holds mu and must close evicted after it has released mu, which
// Close locks.
func (p *Pool) enter(c *Conn) (evicted *Conn, ok bool) {
	addr := p.addresses[c.client]
	switch {
	case c.client == netip.Prefix{}: // from a proxy, which limits its clients itself
	case addr.countTo(c.listener) >= c.listener.o.PerAddress && c.listener.o.PerAddress > 0,
		p.networks[c.network()] >= c.listener.o.PerAddress*networkShare && c.listener.o.PerAddress > 0:
		c.exceeded = AddressLimit
	case p.max > 0 && p.open >= p.max:
		most := p.most()
		if most == nil || len(most.conns) <= addr.len()+1 {
			c.exceeded = ProcessLimit
			break
		}
		evicted = most.conns[0] // the oldest, so that a health check, which is short, is not cut off
	}
	if c.exceeded == WithinLimits {
		p.open++
		p.add(c, addr)
		return evicted, true
	}
	if !c.listener.o.Reserve {
		return nil, false
	}
	if p.overLimit = append(p.overLimit, c); len(p.overLimit) > reserved {
		evicted = p.overLimit[0]
	}
	return evicted, true
}

// add adds a connection to those of its address, unless the address is exempt. The caller holds mu.
func (p *Pool) add(c *Conn, addr *address) {
	if c.client == (netip.Prefix{}) {
		return
	}
	if addr == nil {
		addr = new(address)
		p.addresses[c.client] = addr
	}
	addr.conns = append(addr.conns, c)
	if n := c.network(); n.prefix.IsValid() {
		p.networks[n]++
	}
}

// len returns the number of connections. It is 0 if a is nil.
func (a *address) len() int {
	if a == nil {
		return 0
	}
	return len(a.conns)
}

// countTo returns the number of connections to a listener. It is 0 if a is nil.
func (a *address) countTo(l *listener) (n int) {
	if a == nil {
		return 0
	}
	for _, c := range a.conns {
		if c.listener == l {
			n++
		}
	}
	return n
}

// most returns the address with the most connections, or nil if there are no connections. It scans all addresses, which
// is acceptable because only a full pool and a lack of file descriptors require it. The caller holds mu.
func (p *Pool) most() (most *address) {
	for _, a := range p.addresses {
		if a.len() > most.len() {
			most = a
		}
	}
	return most
}

// closeOldest closes the oldest connection of the address with the most connections. It reports whether it closed one.
func (p *Pool) closeOldest() bool {
	p.mu.Lock()
	var evicted *Conn
	if most := p.most(); most != nil {
		evicted = most.conns[0]
	}
	p.mu.Unlock()
	if evicted == nil {
		return false
	}
	return evicted.Close() == nil
}

// remove removes a connection from the pool. Conn.Close calls it once per connection.
func (p *Pool) remove(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := func(other *Conn) bool { return other == c }
	if c.exceeded != WithinLimits {
		p.overLimit = slices.DeleteFunc(p.overLimit, same)
		return
	}
	p.open--
	if n := c.network(); n.prefix.IsValid() {
		if p.networks[n]--; p.networks[n] == 0 {
			delete(p.networks, n)
		}
	}
	if a := p.addresses[c.client]; a != nil {
		if a.conns = slices.DeleteFunc(a.conns, same); len(a.conns) == 0 {
			delete(p.addresses, c.client)
		}
	}
}

// network is the /48 of an IPv6 client at a listener. The zero value stands for those of IPv4 and of proxies, which are not counted.
type network struct {
	prefix   netip.Prefix
	listener *listener
}

// networkBits is the length of the prefix that providers assign to a site. networkShare is how many times what one /64 may have open such
// a network of 65,536 of them may have (ratelimit.NetworkShare).
const networkBits, networkShare = 48, 16

// network returns the network of a connection.
func (c *Conn) network() network {
	if !c.client.IsValid() || !c.client.Addr().Is6() {
		return network{}
	}
	whole, _ := c.client.Addr().Prefix(networkBits) // fails only for lengths above 128
	return network{whole, c.listener}
}

// clientOf returns the network that counts as one client: an IPv4 address, or an IPv6 /64, since providers assign at
// least that to each subscriber.
func clientOf(ip netip.Addr) netip.Prefix {
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits) // fails only for the zero Addr
	return p
}

// addrOf returns the IP address of a without its zone, and an IPv4-mapped address as IPv4. It returns the zero Addr if
// a is not a TCP address.
func addrOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
