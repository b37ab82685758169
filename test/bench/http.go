package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// caller is one HTTP/1.1 connection that is kept, with a reader of answers that costs little. It makes no second try.
type caller struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte // of the last answer, overwritten by the next
}

func dial(ctx context.Context, addr string) (*caller, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &caller{conn: conn, in: bufio.NewReaderSize(conn, 4<<10)}, nil
}

// request is a request as it goes over the wire; path is below the API's base path unless root.
func request(method, path, token, body string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: bench\r\nAccept: application/json\r\n", method, path)
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return []byte(b.String() + "\r\n" + body)
}

// base is the base path of the API.
const base = "/api/v1"

// do sends a request and reads its answer.
func (c *caller) do(request []byte) (status int, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(patience + 10*time.Second)); err != nil {
		return 0, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	return c.answer()
}

func (c *caller) answer() (status int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, fmt.Errorf("read an answer: %w", err)
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, fmt.Errorf("status line %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, fmt.Errorf("status line %q", line)
	}
	length := 0 // -1: chunked
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, fmt.Errorf("read an answer's header: %w", err)
		}
		if len(line) <= 2 {
			break
		}
		if value, ok := field(line, "Content-Length:"); ok {
			if length, err = strconv.Atoi(value); err != nil {
				return 0, fmt.Errorf("header field %q", line)
			}
		} else if _, ok := field(line, "Transfer-Encoding:"); ok {
			length = -1
		}
	}
	c.body = c.body[:0]
	if length >= 0 {
		return status, c.read(length)
	}
	return status, c.chunks()
}

func field(line []byte, name string) (string, bool) {
	if len(line) < len(name) || !strings.EqualFold(string(line[:len(name)]), name) {
		return "", false
	}
	return strings.TrimSpace(string(line[len(name):])), true
}

// read adds n octets to the body.
func (c *caller) read(n int) error {
	at := len(c.body)
	if cap(c.body) < at+n {
		c.body = append(make([]byte, 0, 2*(at+n)), c.body...)
	}
	c.body = c.body[:at+n]
	_, err := io.ReadFull(c.in, c.body[at:])
	return err
}

func (c *caller) chunks() error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(line)), 16, 32)
		if err != nil {
			return fmt.Errorf("chunk size %q", line)
		}
		if err := c.read(int(n)); err != nil {
			return err
		}
		if _, err := c.in.Discard(len("\r\n")); err != nil || n == 0 {
			return err
		}
	}
}

// call makes a call of the service's API that must answer with the status, and decodes its data.
func (c *caller) call(status int, method, path, token, body string, data any) error {
	return c.decode(status, method, base+path, token, body, data)
}

// decode makes a call of any server that must answer with the status, and decodes the JSON of the answer.
func (c *caller) decode(status int, method, path, token, body string, answer any) error {
	got, err := c.do(request(method, path, token, body))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if got != status {
		return fmt.Errorf("%s %s: status %d: %s", method, path, got, c.body)
	}
	return json.Unmarshal(c.body, answer)
}
