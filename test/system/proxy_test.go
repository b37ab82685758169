package system_test

import (
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy forwards connections to a server, until it is told that those which are open pass nothing on. It records what the clients say.
type proxy struct {
	net.Listener
	to     string
	opened atomic.Int64 // connections so far
	closed atomic.Int64 // of these, how many a client has closed
	dead   atomic.Int64 // of these, how many pass nothing on, and do not end either

	answers sync.RWMutex // is locked to hold the server's answers back
	mu      sync.Mutex
	text    strings.Builder // from clients
	holdAt  string          // hold answers back from the time when a client says this; "": never
	held    chan struct{}   // is closed then
}

func startProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			number := p.opened.Add(1)
			server, err := net.Dial("tcp", p.to)
			if err != nil {
				conn.Close()
				continue
			}
			go func() {
				p.pass(server, conn, number, p.listen)
				p.closed.Add(1)
			}()
			go p.pass(conn, server, number, p.await)
		}
	}()
	return p
}

// pass passes on what comes from one side of a connection, and calls before for it.
func (p *proxy) pass(to, from net.Conn, number int64, before func([]byte)) {
	defer to.Close()
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		before(buf[:n])
		if number > p.dead.Load() {
			_, _ = to.Write(buf[:n])
		}
	}
}

// listen records what a client says, and holds answers back if it is what was waited for.
func (p *proxy) listen(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(text)
	if p.holdAt != "" && strings.Contains(string(text), p.holdAt) {
		p.answers.Lock()
		p.holdAt = ""
		close(p.held)
	}
}

// await waits while answers are held back.
func (p *proxy) await([]byte) {
	p.answers.RLock()
	defer p.answers.RUnlock()
}

// hold holds the server's answers back from the time when a client says text, at which the channel is closed, until release is called.
func (p *proxy) hold(text string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holdAt, p.held = text, make(chan struct{})
	return p.held
}

func (p *proxy) release() { p.answers.Unlock() }

// said returns what clients have said so far.
func (p *proxy) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}
