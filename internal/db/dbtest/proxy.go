package dbtest

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Proxy stands between clients and a server, on a TCP port of its own, and can make the server vanish from their sight
// without a connection being closed.
type Proxy struct {
	server   string // the socket's path
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex
	route *route // of connections that are opened now
}

// route is what connections have in common that were opened before or after the server vanished.
type route struct {
	dropped bool // no octet passes any more
	conns   []net.Conn
}

// StartProxy starts a proxy for a server; it ends with the test, and every connection with it.
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

// URL is that of a database of the server, behind the proxy.
func (p *Proxy) URL(database string) string {
	_, port, _ := strings.Cut(p.listener.Addr().String(), ":")
	return "postgres://gonebox@127.0.0.1:" + port + "/" + database + "?sslmode=disable"
}

// Vanish lets no octet pass from now on. Connections can be opened, and hear nothing.
func (p *Proxy) Vanish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.route.dropped = true
}

// Replace lets connections pass that are opened from now on, as to a server that has taken the address over. Those that were
// open when the server vanished stay open and dead.
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
		r.conns = append(r.conns, client, server)
		p.mu.Unlock()
		p.running.Go(func() { p.carry(r, client, server) })
		p.running.Go(func() { p.carry(r, server, client) })
	}
}

// carry carries octets one way.
func (p *Proxy) carry(r *route, to, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		dropped := r.dropped
		p.mu.Unlock()
		switch {
		case dropped && err == nil: // lost on the way
		case dropped:
			return // neither is the end seen
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
