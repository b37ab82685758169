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

// client is one SMTP connection of the load generator. It writes what RFC 2920 lets it write at once in one go, if the server offers
// PIPELINING.
type client struct {
	conn       net.Conn
	in         *bufio.Reader
	out        []byte
	pipelining bool
	took       time.Duration // from the last message's content to its 250
}

// connect opens a connection and says EHLO.
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
	var err error
	c.pipelining, err = c.expect("250")
	return err
}

// expect reads a reply, which must have the code; it reports whether a line of it said PIPELINING.
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
// the session follows, in the same write where that is allowed.
func (c *client) send(commands []byte, recipients int, content []byte, quit bool) error {
	if c.pipelining {
		if _, err := c.conn.Write(commands); err != nil {
			return err
		}
	}
	for i := range 1 + recipients + 1 {
		if !c.pipelining {
			end := bytes.IndexByte(commands, '\n') + 1
			if _, err := c.conn.Write(commands[:end]); err != nil {
				return err
			}
			commands = commands[end:]
		}
		code := "250"
		if i > recipients {
			code = "354"
		}
		if _, err := c.expect(code); err != nil {
			return err
		}
	}
	if quit && c.pipelining {
		c.out = append(append(c.out[:0], content...), "QUIT\r\n"...)
		content = c.out
	}
	begun := time.Now()
	if _, err := c.conn.Write(content); err != nil {
		return err
	}
	_, err := c.expect("250")
	c.took = time.Since(begun)
	return err
}

// bye ends the session, whose QUIT send has sent where that is allowed, and closes the connection.
func (c *client) bye() error {
	if !c.pipelining {
		if _, err := c.conn.Write([]byte("QUIT\r\n")); err != nil {
			return err
		}
	}
	_, err := c.expect("221")
	c.conn.Close()
	return err
}
