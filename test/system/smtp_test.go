package system_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// client is one SMTP session, driven command by command.
type client struct {
	conn net.Conn
	r    *bufio.Reader
}

// dial opens a session and says EHLO.
func dial(ctx context.Context, addr string) (*client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := newClient(conn)
	if greeting, err := c.reply(); err != nil || !strings.HasPrefix(greeting, "220 ") {
		conn.Close()
		return nil, errors.Join(fmt.Errorf("greeted with %q", greeting), err)
	}
	if _, err := c.say("EHLO client.test"); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// newClient wraps a connection whose greeting was not read yet.
func newClient(conn net.Conn) *client {
	c := &client{conn: conn, r: bufio.NewReader(conn)}
	c.within(patience)
	return c
}

// mustDial is dial for tests that need the session, which ends with the test.
func mustDial(t *testing.T, addr string) *client {
	t.Helper()
	c, err := dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.conn.Close() })
	return c
}

// within sets the deadline for everything from now on.
func (c *client) within(d time.Duration) { _ = c.conn.SetDeadline(clock.System().Now().Add(d)) }

// reply reads one whole reply and returns its last line.
func (c *client) reply() (string, error) {
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return "", err
		}
		if len(line) < 4 || line[3] != '-' {
			return strings.TrimRight(line, "\r\n"), nil
		}
	}
}

func (c *client) say(format string, args ...any) (string, error) {
	if _, err := fmt.Fprintf(c.conn, format+"\r\n", args...); err != nil {
		return "", err
	}
	return c.reply()
}

// begin starts a transaction and returns the reply to DATA, or the first reply that refuses it.
func (c *client) begin(from string, to ...string) (string, error) {
	reply, err := c.say("MAIL FROM:<%s>", from)
	for _, a := range to {
		if err == nil && reply[0] == '2' {
			reply, err = c.say("RCPT TO:<%s>", a)
		}
	}
	if err == nil && reply[0] == '2' {
		reply, err = c.say("DATA")
	}
	return reply, err
}

// send sends a mail and returns the reply to its content, or the first that refuses it.
func (c *client) send(from string, to []string, data []byte) (string, error) {
	reply, err := c.begin(from, to...)
	if err != nil || reply[0] != '3' {
		return reply, err
	}
	if _, err := c.conn.Write(append(stuffed(data), ".\r\n"...)); err != nil {
		return "", err
	}
	return c.reply()
}

// chunk sends a mail with BDAT, whose content need not end with a line (RFC 3030).
func (c *client) chunk(from, to string, data []byte) (string, error) {
	reply, err := c.say("MAIL FROM:<%s>", from)
	if err == nil && reply[0] == '2' {
		reply, err = c.say("RCPT TO:<%s>", to)
	}
	if err != nil || reply[0] != '2' {
		return reply, err
	}
	if _, err := fmt.Fprintf(c.conn, "BDAT %d LAST\r\n%s", len(data), data); err != nil {
		return "", err
	}
	return c.reply()
}

// stuffed doubles the dots at the beginnings of lines (RFC 5321 §4.5.2).
func stuffed(data []byte) []byte {
	data = bytes.ReplaceAll(data, []byte("\r\n."), []byte("\r\n.."))
	if bytes.HasPrefix(data, []byte(".")) {
		data = append([]byte("."), data...)
	}
	return bytes.Clone(data)
}

// closed reports whether the server has closed the session without a further reply.
func (c *client) closed() bool {
	_, err := c.r.ReadByte()
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}

// send sends a mail over a session of its own.
func send(t *testing.T, addr string, data []byte, to ...string) string {
	t.Helper()
	c := mustDial(t, addr)
	defer c.conn.Close()
	reply, err := c.send("sender@example.org", to, data)
	if err != nil {
		t.Fatalf("send a mail to %s: %v", strings.Join(to, ", "), err)
	}
	return reply
}

// sampleMail is a mail with a text.
func sampleMail(subject, text string) []byte {
	return fmt.Appendf(nil, "From: Sender <sender@example.org>\r\nSubject: %s\r\nDate: Sat, 14 Mar 2026 11:59:00 +0000\r\n"+
		"Message-ID: <%s@example.org>\r\n\r\n%s\r\n", subject, strings.ReplaceAll(subject, " ", "-"), text)
}

// wantReply checks how a reply begins.
func wantReply(t *testing.T, what, reply, want string) {
	t.Helper()
	if !strings.HasPrefix(reply, want) {
		t.Fatalf("%s: the reply is %q, want %q", what, reply, want)
	}
}
