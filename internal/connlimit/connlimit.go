// Package connlimit limits the connections that clients keep open (docs/spec/limits.md#connections): those of one
// address, and all together, since each takes a file descriptor and the process needs some for itself. It does not
// depend on the protocol.
//
// A Pool counts the connections of all listeners of a process. Pool.Listen wraps a listener, whose Accept then returns
// connections within the limits only; when the process is full, an address with many connections loses its oldest one
// to an address with fewer. A listener with Options.Reserve also accepts a few connections beyond the limits, marked
// with the reason (Of), so that an HTTP server can answer health checks and refuse the rest with a status
// (docs/decisions/0036). Closing a connection ends its counting.
package connlimit

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Limited is the reason why a connection is beyond the limits. A listener with Options.Reserve accepts some such connections, so that its
// server can answer probes and refuse everything else.
type Limited uint8

// The reasons.
const (
	No        Limited = iota // it is within the limits
	ByAddress                // the address has reached its limit
	ByAll                    // the process has reached its limit, and no address has more connections than this one
)

// reserved is the number of connections beyond the limits that are open at once. A further one closes the oldest of them.
const reserved = 16

// Pool counts the connections of all listeners of a process. It is safe for concurrent use. Each process counts
// separately.
type Pool struct {
	max int // not counting those beyond the limits

	mu        sync.Mutex // guards the fields below
	open      int        // connections within the limits, also those of exempt networks
	addresses map[netip.Prefix]*address
	beyond    []*Conn // oldest first
}

// address holds the counted connections of a client address.
type address struct{ conns []*Conn } // oldest first

// NewPool returns a pool of at most max connections; 0 means any number.
func NewPool(max int) *Pool { return &Pool{max: max, addresses: make(map[netip.Prefix]*address)} }

// Options are those of a listener.
type Options struct {
	PerAddress int            // connections of an IP address (IPv6: /64) to this listener; 0: any number
	Exempt     []netip.Prefix // networks of proxies, whose connections count for no address
	Reserve    bool           // accept some connections beyond the limits, marked as Limited; else they are closed
}

// Listen returns a listener that accepts the connections of l within the limits. Closing it closes l.
func (p *Pool) Listen(l net.Listener, o Options) net.Listener { return &listener{l, p, o} }

type listener struct {
	net.Listener
	pool *Pool
	o    Options
}

// tries is how often Accept closes a connection for lack of a descriptor before it returns the error.
const tries = 8

// Accept waits for a connection within the limits; others are closed. If the process has no descriptor left, it closes
// a connection of the address that has most, and tries again.
func (l *listener) Accept() (net.Conn, error) {
	for short := 0; ; {
		conn, err := l.Listener.Accept()
		if err != nil {
			if outOfDescriptors(err) && short < tries && l.pool.shed() {
				short++
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

// Conn is a connection that is counted until it is closed.
type Conn struct {
	net.Conn
	pool     *Pool
	listener *listener
	client   netip.Prefix // zero: of a network that is exempt
	limited  Limited
	once     sync.Once
}

// Close closes the connection and ends its counting. It may be called more than once.
func (c *Conn) Close() error {
	c.once.Do(func() { c.pool.remove(c) })
	return c.Conn.Close()
}

// CloseWrite shuts down the writing side of the connection, where it has one (TCP sends FIN).
func (c *Conn) CloseWrite() error {
	if closer, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return closer.CloseWrite()
	}
	return nil
}

type limitedKey struct{}

// Context returns a context for Of. It is to be used as http.Server.ConnContext.
func Context(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*Conn); ok && c.limited != No {
		return context.WithValue(ctx, limitedKey{}, c.limited)
	}
	return ctx
}

// Of reports why the connection of a request is beyond the limits, or No.
func Of(ctx context.Context) Limited {
	limited, _ := ctx.Value(limitedKey{}).(Limited)
	return limited
}

// admit counts a connection, or returns nil if it must be closed.
func (p *Pool) admit(l *listener, conn net.Conn) *Conn {
	c := &Conn{Conn: conn, pool: p, listener: l}
	if ip := addrOf(conn.RemoteAddr()); !slices.ContainsFunc(l.o.Exempt, func(n netip.Prefix) bool { return n.Contains(ip) }) {
		c.client = clientOf(ip)
	}
	p.mu.Lock()
	out, ok := p.enter(c)
	p.mu.Unlock()
	if out != nil {
		_ = out.Close()
	}
	if !ok {
		return nil
	}
	return c
}

// enter counts a connection. ok is false if it must be closed. The caller must close out, another connection that has
// to make room, unless it is nil; it is closed outside the lock, which its Close takes. The caller holds the lock.
func (p *Pool) enter(c *Conn) (out *Conn, ok bool) {
	own := p.addresses[c.client]
	switch {
	case c.client == netip.Prefix{}: // of a proxy, which limits its clients itself
	case own.to(c.listener) >= c.listener.o.PerAddress && c.listener.o.PerAddress > 0:
		c.limited = ByAddress
	case p.max > 0 && p.open >= p.max:
		most := p.most()
		if most == nil || len(most.conns) <= own.len()+1 {
			c.limited = ByAll
			break
		}
		out = most.conns[0] // the oldest: probes are new ones
	}
	if c.limited == No {
		p.open++
		p.add(c, own)
		return out, true
	}
	if !c.listener.o.Reserve {
		return nil, false
	}
	if p.beyond = append(p.beyond, c); len(p.beyond) > reserved {
		out = p.beyond[0]
	}
	return out, true
}

// add adds a connection to those of its address, unless it is exempt.
func (p *Pool) add(c *Conn, own *address) {
	if c.client == (netip.Prefix{}) {
		return
	}
	if own == nil {
		own = new(address)
		p.addresses[c.client] = own
	}
	own.conns = append(own.conns, c)
}

// len returns the number of connections; 0 for nil.
func (a *address) len() int {
	if a == nil {
		return 0
	}
	return len(a.conns)
}

// to returns the number of connections to a listener.
func (a *address) to(l *listener) (n int) {
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

// most returns the address with most connections; nil if none has any. It reads all addresses, which is rare: only a
// full pool and a lack of descriptors need it.
func (p *Pool) most() (most *address) {
	for _, a := range p.addresses {
		if a.len() > most.len() {
			most = a
		}
	}
	return most
}

// shed closes the oldest connection of the address that has most. It reports whether one was closed.
func (p *Pool) shed() bool {
	p.mu.Lock()
	var out *Conn
	if most := p.most(); most != nil {
		out = most.conns[0]
	}
	p.mu.Unlock()
	if out == nil {
		return false
	}
	return out.Close() == nil
}

// remove ends the counting of a connection.
func (p *Pool) remove(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := func(other *Conn) bool { return other == c }
	if c.limited != No {
		p.beyond = slices.DeleteFunc(p.beyond, same)
		return
	}
	p.open--
	if a := p.addresses[c.client]; a != nil {
		if a.conns = slices.DeleteFunc(a.conns, same); len(a.conns) == 0 {
			delete(p.addresses, c.client)
		}
	}
}

// clientOf returns the network that counts as one client: an IPv4 address or an IPv6 /64, which is what one subscriber is given.
func clientOf(ip netip.Addr) netip.Prefix {
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits) // fails only for the zero Addr
	return p
}

// addrOf returns the IP address of a, without zone and not IPv4-mapped; the zero Addr if a has none.
func addrOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
