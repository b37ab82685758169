package connlimit_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"

	"github.com/gonebox/gonebox/internal/connlimit"
)

// source is a listener whose connections come from the test.
type source struct {
	next chan net.Conn
	errs chan error
}

func newSource() *source { return &source{make(chan net.Conn, 1000), make(chan error, 100)} }

func (s *source) Accept() (net.Conn, error) {
	select {
	case err := <-s.errs:
		return nil, err
	default:
	}
	select {
	case c := <-s.next:
		return c, nil
	default:
		return nil, net.ErrClosed // no more connections
	}
}
func (s *source) Close() error   { return nil }
func (s *source) Addr() net.Addr { return nil }

type conn struct {
	net.Conn
	from   *net.TCPAddr
	mu     sync.Mutex
	closed bool
}

func (c *conn) RemoteAddr() net.Addr { return c.from }

func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

func (c *conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// connect opens n connections from an address, and returns their client ends.
func (s *source) connect(ip string, n int) (all []*conn) {
	for range n {
		c := &conn{from: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}}
		all = append(all, c)
		s.next <- c
	}
	return all
}

// accept accepts connections from a listener until there are no more, and returns them.
func accept(l net.Listener) (all []net.Conn) {
	for {
		c, err := l.Accept()
		if err != nil {
			return all
		}
		all = append(all, c)
	}
}

func exceeded(c net.Conn) connlimit.Limit {
	return connlimit.ExceededLimit(connlimit.ConnContext(context.Background(), c))
}

func closed(all []*conn) (n int) {
	for _, c := range all {
		if c.isClosed() {
			n++
		}
	}
	return n
}

func TestConnectionsOfAnAddressAreLimited(t *testing.T) {
	s := newSource()
	l := connlimit.NewPool(0).Listen(s, connlimit.Options{PerAddress: 3})
	s.connect("192.0.2.1", 5)
	s.connect("::ffff:192.0.2.1", 1)
	s.connect("192.0.2.2", 1)
	s.connect("2001:db8::1", 2)
	s.connect("2001:db8::2", 2) // the same /64
	s.connect("2001:db8:0:1::1", 1)
	all := accept(l)
	if want := 3 + 1 + 3 + 1; len(all) != want {
		t.Errorf("Accept with 3 connections an address: got %d of 11, want %d", len(all), want)
	}
	all[0].Close()
	all[0].Close()
	s.connect("192.0.2.1", 2)
	if more := accept(l); len(more) != 1 {
		t.Errorf("Accept after one of 3 connections was closed: got %d of 2, want 1", len(more))
	}
}

func TestProxiesAreNotLimited(t *testing.T) {
	s := newSource()
	l := connlimit.NewPool(0).Listen(s, connlimit.Options{PerAddress: 3, Exempt: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	s.connect("10.1.2.3", 100)
	if n := len(accept(l)); n != 100 {
		t.Errorf("Accept of connections from a proxy: got %d of 100, want all", n)
	}
}

// A few connections beyond the limit are accepted, for health checks. One more closes the oldest.
func TestReserveIsForTheLatestConnections(t *testing.T) {
	s := newSource()
	l := connlimit.NewPool(0).Listen(s, connlimit.Options{PerAddress: 3, Reserve: true})
	ends := s.connect("192.0.2.1", 100)
	all := accept(l)
	for i, c := range all {
		if got := exceeded(c) == connlimit.AddressLimit; got != (i >= 3) {
			t.Errorf("connection %d of an address that may have 3: beyond the limit is %t, want %t", i, got, i >= 3)
		}
	}
	if n := closed(ends); n != 100-3-16 || closed(ends[:3]) != 0 || closed(ends[100-16:]) != 0 {
		t.Errorf("of 100 connections got %d closed, %d of the first 3 and %d of the last 16, want 81, 0 and 0", n, closed(ends[:3]), closed(ends[100-16:]))
	}
	all[99].Close()
	all[0].Close()
	s.connect("192.0.2.1", 1)
	if more := accept(l); len(more) != 1 || exceeded(more[0]) != connlimit.WithinLimits {
		t.Errorf("Accept after 2 connections were closed: got %d connections, the first beyond its limit is %t, want 1 within limits", len(more), len(more) > 0 && exceeded(more[0]) != connlimit.WithinLimits)
	}
}

// At the limit of the process, a connection from an address with few connections closes the oldest one of the address that has most, on any
// listener.
func TestAddressWithMostConnectionsLosesOne(t *testing.T) {
	pool, web, smtp := connlimit.NewPool(20), newSource(), newSource()
	webListener := pool.Listen(web, connlimit.Options{Reserve: true})
	smtpListener := pool.Listen(smtp, connlimit.Options{})
	old := web.connect("192.0.2.1", 5)
	accept(webListener)
	greedy := smtp.connect("192.0.2.1", 30)
	if n := len(accept(smtpListener)); n != 15 {
		t.Errorf("Accept of 30 connections where the process has 15 of 20 left: got %d, want 15", n)
	}
	for i := range 5 {
		web.connect(fmt.Sprintf("192.0.2.%d", i+2), 1)
	}
	for _, c := range accept(webListener) {
		if exceeded(c) != connlimit.WithinLimits {
			t.Errorf("Accept of a connection from an address with none: got the limit %v exceeded, want none", exceeded(c))
		}
	}
	if closed(old) != 5 || closed(greedy[:15]) != 0 || closed(greedy[15:]) != 15 {
		t.Errorf("of the address with most connections got %d closed of the 5 first, %d of the 15 next and %d of the 15 last, want 5, 0 and 15", closed(old), closed(greedy[:15]), closed(greedy[15:]))
	}
	web.connect("192.0.2.1", 1)
	if all := accept(webListener); len(all) != 1 || exceeded(all[0]) != connlimit.ProcessLimit {
		t.Errorf("Accept from the address with most connections: got %d connections, want 1 beyond the limit of the process", len(all))
	}
}

func TestConnectionIsClosedForLackOfADescriptor(t *testing.T) {
	s := newSource()
	l := connlimit.NewPool(0).Listen(s, connlimit.Options{})
	ends := s.connect("192.0.2.1", 3)
	accept(l)
	s.errs <- &net.OpError{Op: "accept", Err: syscall.EMFILE}
	s.connect("192.0.2.2", 1)
	if all := accept(l); len(all) != 1 || closed(ends) != 1 || !ends[0].isClosed() {
		t.Errorf("Accept without a descriptor: got %d accepted and %d closed (the oldest: %t), want 1 and 1, the oldest", len(all), closed(ends), ends[0].isClosed())
	}
	s.errs <- errors.New("another error")
	if _, err := l.Accept(); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept where the listener fails: got the error %v, want the one of the listener", err)
	}
}

func TestPoolIsSafeForConcurrentUse(t *testing.T) {
	pool := connlimit.NewPool(50)
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			s := newSource()
			l := pool.Listen(s, connlimit.Options{PerAddress: 10, Reserve: i%2 == 0})
			for range 20 {
				s.connect(fmt.Sprintf("192.0.2.%d", i), 20)
				for _, c := range accept(l) {
					c.Close()
				}
			}
		})
	}
	running.Wait()
	s := newSource()
	const want = 50
	s.connect("198.51.100.1", want)
	if n := len(accept(pool.Listen(s, connlimit.Options{}))); n != want {
		t.Errorf("Accept of %d connections after 8 listeners closed all of theirs: got %d, want all", want, n)
	}
}

// A /48, which has 65,536 networks of 64 bits, may have 16 times as many connections as one of these.
func TestConnectionsOfASiteAreLimited(t *testing.T) {
	s := newSource()
	l := connlimit.NewPool(0).Listen(s, connlimit.Options{PerAddress: 2})
	for n := range 40 {
		s.connect(fmt.Sprintf("2001:db8:1:%x::1", n), 1)
	}
	site := accept(l)
	if len(site) != 32 {
		t.Errorf("Accept of 40 connections from 40 networks of a /48: got %d, want 32", len(site))
	}
	s.connect("2001:db8:2::1", 3)
	if other := accept(l); len(other) != 2 {
		t.Errorf("Accept of 3 connections from a network of another /48: got %d, want 2", len(other))
	}
	for _, c := range site[:5] {
		_ = c.Close()
		_ = c.Close()
	}
	for n := range 10 {
		s.connect(fmt.Sprintf("2001:db8:1:%x::1", 100+n), 1)
	}
	if again := accept(l); len(again) != 5 {
		t.Errorf("Accept of 10 connections of the /48 after 5 were closed: got %d, want 5", len(again))
	}
}
