package dialogtest

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// patience is how long the server may take for a reply. It only ends a test that hangs.
const patience = 20 * time.Second

// Player plays dialogs against a server.
type Player struct {
	Addr string      // of the server, host:port
	TLS  *tls.Config // of the client, for dialogs with C-tls
}

// Play plays the dialog. The error names the line that went wrong, what was expected there and what came.
func (p Player) Play(ctx context.Context, d *Dialog) error {
	g := game{player: p, links: make(map[string]*link)}
	defer g.closeAll()
	if err := g.connect(ctx, ""); err != nil {
		return err
	}
	for _, st := range d.steps {
		if err := g.do(ctx, st); err != nil {
			return fmt.Errorf("%s:%d: %w\n%s", d.Name, st.line, err, g.transcript.String())
		}
	}
	return nil
}

// game is a dialog being played: its connections by name, the one in use, and what was sent and received so far, for
// errors.
type game struct {
	player     Player
	links      map[string]*link
	now        *link
	transcript strings.Builder
}

// link is a connection to the server.
type link struct {
	conn net.Conn
	r    *bufio.Reader
}

// connect opens a connection, which is in use from then on.
func (g *game) connect(ctx context.Context, name string) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", g.player.Addr)
	if err != nil {
		return fmt.Errorf("connect %q: %w", name, err)
	}
	if err := conn.SetDeadline(clock.System().Now().Add(patience)); err != nil {
		return fmt.Errorf("set deadline: %w", err)
	}
	g.now = &link{conn: conn, r: bufio.NewReader(conn)}
	g.links[name] = g.now
	return nil
}

func (g *game) closeAll() {
	for _, l := range g.links {
		_ = l.conn.Close() // the dialog is over
	}
}

// do executes a step.
func (g *game) do(ctx context.Context, st step) error {
	switch st.action {
	case send:
		return g.send(st.octets)
	case expectLine:
		line, err := g.read()
		return expect(st.text, line, err)
	case expectReply:
		line, err := g.readReply()
		return expect(st.text, line, err)
	case expectEnd:
		return g.expectEnd()
	case startTLS, failTLS:
		return g.handshake(ctx, st.action == startTLS)
	case connect:
		return g.connect(ctx, st.text)
	case use:
		if g.now = g.links[st.text]; g.now == nil {
			return fmt.Errorf("no connection %q", st.text)
		}
		return nil
	default:
		return g.now.conn.Close()
	}
}

func (g *game) send(octets []byte) error {
	fmt.Fprintf(&g.transcript, "C: %.200q\n", octets)
	if _, err := g.now.conn.Write(octets); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// read returns the next line of a reply without its CRLF.
func (g *game) read() (string, error) {
	line, err := g.now.r.ReadString('\n')
	if line != "" {
		fmt.Fprintf(&g.transcript, "S: %q\n", line)
	}
	if err != nil {
		return "", fmt.Errorf("read a reply: %w", err)
	}
	text, ok := strings.CutSuffix(line, "\r\n")
	if !ok {
		return "", fmt.Errorf("the reply %q does not end in CRLF", line)
	}
	return text, nil
}

// readReply reads a reply of one or more lines and returns the last line (RFC 5321 §4.2.1).
func (g *game) readReply() (string, error) {
	for {
		line, err := g.read()
		if err != nil || len(line) < 4 || line[3] != '-' {
			return line, err
		}
	}
}

// expect returns an error unless the line matches the pattern.
func expect(pattern, line string, err error) error {
	if err == nil && !matches(pattern, line) {
		err = fmt.Errorf("the reply is %q", line)
	}
	if err != nil {
		return fmt.Errorf("expected %q: %w", pattern, err)
	}
	return nil
}

func (g *game) expectEnd() error {
	line, err := g.read()
	switch {
	case err == nil:
		return fmt.Errorf("expected the connection to be closed, the reply is %q", line)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return nil
	default:
		return fmt.Errorf("expected the connection to be closed: %w", err)
	}
}

// handshake runs the client's side of a TLS handshake and compares its outcome.
func (g *game) handshake(ctx context.Context, succeeds bool) error {
	if g.player.TLS == nil {
		return errors.New("the player has no TLS configuration")
	}
	conn := tls.Client(g.now.conn, g.player.TLS)
	err := conn.HandshakeContext(ctx)
	if succeeds != (err == nil) {
		return fmt.Errorf("the TLS handshake: %w", errors.Join(err, errors.New("did not end as expected")))
	}
	*g.now = link{conn: conn, r: bufio.NewReader(conn)}
	return nil
}
