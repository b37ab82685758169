package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// patience bounds every dialog.
const patience = 60 * time.Second

// client is one SMTP connection of the load generator. It writes what RFC 2920 lets it write at once in one go.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// connect opens a connection and says EHLO. The server must offer PIPELINING, as all contestants do.
func connect(ctx context.Context, addr, helo string, in *bufio.Reader) (*client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	in.Reset(conn)
	c := &client{conn: conn, in: in}
	if err := c.hello(helo); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *client) hello(helo string) error {
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := c.expect("220"); err != nil {
		return err
	}
	if _, err := c.conn.Write([]byte("EHLO " + helo + "\r\n")); err != nil {
		return err
	}
	pipelining, err := c.expect("250")
	if err == nil && !pipelining {
		err = fmt.Errorf("%s does not offer PIPELINING", c.conn.RemoteAddr())
	}
	return err
}

// expect reads a reply, which must have the code; it tells whether a line of it said PIPELINING.
func (c *client) expect(code string) (pipelining bool, err error) {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return false, fmt.Errorf("read a reply: %w", err)
		}
		if len(line) < 6 || string(line[:3]) != code {
			return false, fmt.Errorf("reply %q instead of %s", bytes.TrimSpace(line), code)
		}
		if line[3] == ' ' {
			return pipelining || strings.TrimSpace(string(line[4:])) == "PIPELINING", nil
		}
		pipelining = pipelining || strings.TrimSpace(string(line[4:])) == "PIPELINING"
	}
}

// send sends a message: the commands in one write, then its content, which last ends with the final dot. With quit the end of
// the session follows in the same write.
func (c *client) send(commands []byte, recipients int, content []byte, quit bool) error {
	if _, err := c.conn.Write(commands); err != nil {
		return err
	}
	for range 1 + recipients {
		if _, err := c.expect("250"); err != nil {
			return err
		}
	}
	if _, err := c.expect("354"); err != nil {
		return err
	}
	if quit {
		c.out = append(append(c.out[:0], content...), "QUIT\r\n"...)
		content = c.out
	}
	if _, err := c.conn.Write(content); err != nil {
		return err
	}
	_, err := c.expect("250")
	return err
}

// bye reads the reply to a QUIT that send has sent and closes the connection.
func (c *client) bye() error {
	_, err := c.expect("221")
	c.conn.Close()
	return err
}
