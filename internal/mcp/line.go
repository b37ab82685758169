package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/clock"
)

// drainMax is how long the end of the input waits for the answers to the requests before it: a program may write all its
// requests and close the stream. A wait for mail that is in progress then does not hold up the end for longer.
const drainMax = time.Second

// lineMax is the largest message over stdio, in octets. Arguments of tools have a few KiB at most.
const lineMax = 1 << 20

// lineTransport connects to a client over a pair of streams with one message in each line. It replaces the transport of
// the library, which ends the session, and with it the tokens of all mailboxes, at the first line that is not a message.
type lineTransport struct {
	in  io.ReadCloser
	out io.WriteCloser
}

// Connect returns the connection, and starts the goroutine that reads its lines. The goroutine ends when the input ends
// or is closed.
func (t *lineTransport) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConn{lineTransport: t, lines: make(chan inputLine), closed: make(chan struct{})}
	go c.readLines()
	return c, nil
}

// lineConn is a connection of a lineTransport. It is safe for concurrent use, except Read.
type lineConn struct {
	*lineTransport
	lines  chan inputLine
	closed chan struct{} // closed by Close

	mu       sync.Mutex    // guards what follows
	requests int           // that were read and are not answered
	idle     chan struct{} // not nil: closed when requests becomes 0

	writing   sync.Mutex // guards out
	closeOnce sync.Once
	closeErr  error
}

// inputLine is a line of the input, or the error that ends it.
type inputLine struct {
	text []byte
	err  error
}

// errLineTooLong is the error of readLine for a line of more than lineMax octets.
var errLineTooLong = errors.New("the message has more than 1 MiB")

// readLines sends the lines of the input to Read until the input ends or the connection is closed.
func (c *lineConn) readLines() {
	in := bufio.NewReader(c.in)
	for {
		text, err := readLine(in)
		select {
		case c.lines <- inputLine{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && !errors.Is(err, errLineTooLong) {
			return
		}
	}
}

// readLine reads a line. The last one may lack its line end. A line of more than lineMax octets is skipped.
func readLine(in *bufio.Reader) (text []byte, err error) {
	var tooLong error
	for {
		part, err := in.ReadSlice('\n')
		if len(text)+len(part) > lineMax {
			text, tooLong = nil, errLineTooLong
		}
		if tooLong == nil {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(text) > 0:
			return text, nil
		case err != nil:
			return nil, err
		default:
			return text, tooLong
		}
	}
}

// Read returns the next message. It answers lines that are not messages itself, and skips empty ones. The error is io.EOF
// at the end of the input.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var line inputLine
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case line = <-c.lines:
		}
		switch {
		case errors.Is(line.err, errLineTooLong):
			if err := c.writeLine((&rpcError{invalidRequest, line.err.Error()}).response(nil)); err != nil {
				return nil, err
			}
			continue
		case line.err != nil:
			c.drain(ctx)
			return nil, line.err
		case len(bytes.TrimSpace(line.text)) == 0:
			continue
		}
		m, invalid := parseMessage(line.text)
		if invalid == nil {
			decoded, err := jsonrpc.DecodeMessage(m.forLibrary())
			if err == nil {
				if r, ok := decoded.(*jsonrpc.Request); ok && r.IsCall() {
					c.count(1)
				}
				return decoded, nil
			}
			invalid = &rpcError{invalidRequest, err.Error()}
		}
		if err := c.writeLine(invalid.response(m.id)); err != nil {
			return nil, err
		}
	}
}

// count counts requests that were read (1) or answered (-1).
func (c *lineConn) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests += n; c.requests == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// drain waits until all requests are answered, for at most drainMax.
func (c *lineConn) drain(ctx context.Context) {
	c.mu.Lock()
	if c.requests == 0 {
		c.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	c.idle = idle
	c.mu.Unlock()
	timer := clock.System().NewTimer(drainMax)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	case <-c.closed:
	case <-ctx.Done():
	}
}

// Write writes a message, with the identifier of a response as the client wrote it.
func (c *lineConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		defer c.count(-1)
		encoded, _ := r.ID.Raw().(string)
		if id, ok := decodeIdentifier(encoded); ok {
			if beginning, rest, ok := restoreID(text, id); ok {
				return c.writeLine(beginning, rest)
			}
		}
	}
	return c.writeLine(text)
}

// writeLine writes the parts of a line and ends it.
func (c *lineConn) writeLine(parts ...[]byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	for _, part := range append(parts, []byte("\n")) {
		if _, err := c.out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// Close closes both streams, which ends Read.
func (c *lineConn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closed)
		c.closeErr = errors.Join(c.in.Close(), c.out.Close())
	})
	return c.closeErr
}

// SessionID returns "", since a connection is its session.
func (*lineConn) SessionID() string { return "" }
