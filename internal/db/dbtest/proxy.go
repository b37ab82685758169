package dbtest

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Proxy forwards connections from a TCP port to a server, and can stop forwarding without closing them, as if the network were cut.
type Proxy struct {
	server   string // the socket's path
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	route  *route // of connections that are opened now
	opened int    // connections so far
}

// route is shared by the connections that were opened before, or after, a call of Replace.
type route struct {
	dropped bool // nothing is forwarded any more
	conns   []net.Conn
}

// StartProxy starts a proxy for the server. It is closed with all its connections when the test ends.
func (s *Server) StartProxy(t testing.TB) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: filepath.Join(s.dir, ".s.PGSQL.5432"), listener: l, route: &route{}}
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// URL returns the URL of a database through the proxy.
func (p *Proxy) URL(database string) string {
	_, port, _ := strings.Cut(p.listener.Addr().String(), ":")
	return "postgres://gonebox@127.0.0.1:" + port + "/" + database + "?sslmode=disable"
}

// Host returns the address of the proxy, host:port.
func (p *Proxy) Host() string { return p.listener.Addr().String() }

// Opened returns how many connections have been opened.
func (p *Proxy) Opened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened
}

// Vanish stops forwarding. Connections can still be opened, and get no answer.
func (p *Proxy) Vanish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.route.dropped = true
}

// Replace forwards connections that are opened from now on, as if another server had taken over the address. Older ones stay open and
// dead.
func (p *Proxy) Replace() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.route = &route{conns: p.route.conns}
}

func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	for _, c := range p.route.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		r := p.route
		p.opened++
		r.conns = append(r.conns, client, server)
		p.mu.Unlock()
		p.running.Go(func() { p.forward(r, client, server) })
		p.running.Go(func() { p.forward(r, server, client) })
	}
}

// forward copies one direction of a connection.
func (p *Proxy) forward(r *route, to, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		dropped := r.dropped
		p.mu.Unlock()
		switch {
		case dropped && err == nil: // lost on the way
		case dropped:
			return // the end of the connection is not forwarded either
		case err != nil:
			to.Close()
			return
		default:
			if _, err := to.Write(buf[:n]); err != nil && err != io.EOF {
				from.Close()
				return
			}
		}
	}
}
