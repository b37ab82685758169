package smtpd_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/smtpd"
)

// pipes is a listener whose connections are net.Pipes, so that a test in a synctest bubble controls the time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// addressed is a connection with a remote address that the test chooses.
type addressed struct {
	net.Conn
	remote net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.remote }

// pipeServer is a server on pipes.
type pipeServer struct {
	t      *testing.T
	server *smtpd.Server
	pipes  *pipes
	served chan error
}

func serveOnPipes(t *testing.T, cfg smtpd.Config, in smtpd.Inbound) *pipeServer {
	t.Helper()
	cfg.Hostname = "mx.example.test"
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	b := &pipeServer{
		t:      t,
		server: smtpd.New(cfg, in),
		pipes:  &pipes{conns: make(chan net.Conn), closed: make(chan struct{})},
		served: make(chan error, 1),
	}
	go func() { b.served <- b.server.Serve(b.pipes) }()
	return b
}

// stop shuts the server down and waits for the last session.
func (b *pipeServer) stop() {
	b.t.Helper()
	if err := b.server.Shutdown(context.Background()); err != nil {
		b.t.Errorf("Shutdown: %v", err)
	}
	if err := <-b.served; err != nil {
		b.t.Errorf("Serve: %v", err)
	}
}

// dial connects a client with the given remote address.
func (b *pipeServer) dial(from string) *client {
	b.t.Helper()
	server, conn := net.Pipe()
	b.pipes.conns <- addressed{Conn: server, remote: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))}
	return newClient(b.t, conn)
}

// client is a client whose commands the test writes itself.
type client struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func newClient(t *testing.T, conn net.Conn) *client {
	return &client{t: t, conn: conn, r: bufio.NewReader(conn)}
}

func (c *client) send(octets string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, octets); err != nil {
		c.t.Fatalf("send %.60q: %v", octets, err)
	}
}

// expect reads one reply for each of the prefixes.
func (c *client) expect(prefixes ...string) {
	c.t.Helper()
	for _, prefix := range prefixes {
		line := "    "
		for line[3] != ' ' || line == "    " {
			var err error
			if line, err = c.r.ReadString('\n'); err != nil || len(line) < 4 {
				c.t.Fatalf("the reply is %q, %v, want %q", line, err, prefix)
			}
		}
		if !strings.HasPrefix(line, prefix) {
			c.t.Fatalf("the reply is %q, want %q at its beginning", line, prefix)
		}
	}
}

func (c *client) expectEnd() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.r); len(rest) > 0 || (err != nil && !errors.Is(err, io.ErrClosedPipe)) {
		c.t.Fatalf("the server said %q, %v, want the end of the session", rest, err)
	}
}

// hello reads the greeting and sends EHLO.
func (c *client) hello() {
	c.t.Helper()
	c.expect("220 ")
	c.send("EHLO client.test\r\n")
	c.expect("250 ")
}

// envelope sends MAIL and RCPT, so that content may follow.
func (c *client) envelope() {
	c.t.Helper()
	c.send("MAIL FROM:<alice@sender.test>\r\nRCPT TO:<box@example.test>\r\n")
	c.expect("250 2.1.0", "250 2.1.5")
}

// data sends the envelope and DATA, so that the server waits for content.
func (c *client) data() {
	c.t.Helper()
	c.envelope()
	c.send("DATA\r\n")
	c.expect("354")
}

const (
	home  = "192.0.2.1:1234"
	other = "192.0.2.2:1234"
)
