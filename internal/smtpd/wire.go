package smtpd

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/buffer"
	"github.com/gonebox/gonebox/internal/clock"
)

const (
	inputSize  = 4096 // of the input buffer
	maxLine    = 2048 // octets of a command line with its end; RFC 5321 §4.5.3.1.4 asks for 512 and room for parameters
	outputSize = 4096 // replies that wait for each other before they are written
)

var (
	errLineTooLong = errors.New("command line too long")
	errDraining    = errors.New("the server is shutting down")
	errSessionOver = errors.New("the session has lasted too long")
)

// wire is a session's connection: it buffers both ways and keeps the deadlines. Replies are written when the session has nothing
// left to read, so that a batch of pipelined commands is answered in one write (RFC 2920 §3.2).
type wire struct {
	raw      net.Conn // the connection itself
	conn     net.Conn // raw, or TLS over it
	timeouts Timeouts
	wall     clock.Clock
	end      time.Time // of the session

	small      *[]byte // of inputSize octets, from package buffer
	in         []byte  // *small, or a longer slice of what followed a message's content
	start, eof int     // in[start:eof] is input not yet used
	out        []byte
	writeBy    time.Time // the write deadline set
	deaf       error     // of the first write that failed: nothing more is written
	within     bool      // a mail has begun: shutdown waits for the next command as it does for content

	mu       sync.Mutex
	draining bool      // set by interrupt
	waiting  bool      // between mails: the read may be interrupted
	readBy   time.Time // the read deadline set
}

// line returns the next command line with its LF. It is valid until the next call. A line beyond maxLine is read to its LF
// and thrown away: errLineTooLong is the one error after which reading goes on.
func (w *wire) line() ([]byte, error) {
	skipping := false
	for {
		if i := bytes.IndexByte(w.in[w.start:w.eof], '\n'); i >= 0 {
			line := w.in[w.start : w.start+i+1]
			w.start += i + 1
			if skipping || len(line) > maxLine {
				return nil, errLineTooLong
			}
			return line, nil
		}
		if w.eof-w.start >= maxLine {
			skipping = true
			w.start = w.eof
		}
		if err := w.fill(); err != nil {
			return nil, err
		}
	}
}

// fill waits for more input. What is left of the present input is part of a line and so shorter than maxLine.
func (w *wire) fill() error {
	w.eof = copy(*w.small, w.in[w.start:w.eof])
	w.in, w.start = *w.small, 0
	n, err := w.read(w.in[w.eof:], w.timeouts.Command, !w.within)
	w.eof += n
	return err
}

// take hands over at most limit octets of the buffered input. They are valid until the next read.
func (w *wire) take(limit int64) []byte {
	n := int(min(limit, int64(w.eof-w.start)))
	w.start += n
	return w.in[w.start-n : w.start]
}

// unread puts back what followed a message's content. Nothing is buffered when it is called.
func (w *wire) unread(p []byte) {
	w.in, w.start = *w.small, 0
	if len(p) > len(w.in) {
		w.in = make([]byte, len(p))
	}
	w.eof = copy(w.in, p)
}

// readContent waits for octets of a message. Shutdown does not interrupt it.
func (w *wire) readContent(p []byte) (int, error) {
	return w.read(p, w.timeouts.Data, false)
}

// skip reads n octets of content and throws them away.
func (w *wire) skip(n int64) error {
	n -= int64(len(w.take(n)))
	for n > 0 {
		got, err := w.readContent((*w.small)[:min(n, inputSize)])
		if err != nil {
			return err
		}
		n -= int64(got)
	}
	return nil
}

// read flushes the replies and waits at most idle for input, and never beyond the session's end. Between mails a shutdown
// cuts it short.
func (w *wire) read(p []byte, idle time.Duration, between bool) (int, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	if err := w.awaitUntil(idle, between); err != nil {
		return 0, err
	}
	n, err := w.conn.Read(p)
	if interrupted := w.arrived(); n == 0 && err != nil && interrupted {
		return 0, errDraining
	}
	if n > 0 {
		return n, nil // an error that came along comes again
	}
	return 0, err
}

// awaitUntil sets the read deadline. Moving it costs more than a look at it, so it is left alone while it is nearly right.
func (w *wire) awaitUntil(idle time.Duration, between bool) error {
	now := w.wall.Now()
	if !now.Before(w.end) {
		return errSessionOver
	}
	by := now.Add(idle)
	if by.After(w.end) {
		by = w.end
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining && between {
		return errDraining
	}
	w.waiting = between
	if early := by.Sub(w.readBy); early >= 0 && early <= idle/16 {
		return nil
	}
	w.readBy = by
	return w.raw.SetReadDeadline(by)
}

// arrived ends the waiting. It reports whether interrupt had cut it short, and in that case sees to it that the next read gets
// a deadline of its own: what came in at the last moment may be a message.
func (w *wire) arrived() (interrupted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	interrupted = w.waiting && w.draining
	if interrupted {
		w.readBy = time.Time{}
	}
	w.waiting = false
	return interrupted
}

// interrupt makes the session see at its next wait for a command, or in the one under way, that the server is shutting down.
// It alone is called from outside of the session's goroutine.
func (w *wire) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = true
	if w.waiting {
		_ = w.raw.SetReadDeadline(time.Unix(1, 0)) // a connection that cannot take a deadline is closed in the end
	}
}

// write adds to the replies that wait to be flushed.
func (w *wire) write(text string) {
	if len(w.out)+len(text) > outputSize {
		_ = w.flush() // the next one returns the error as well
	}
	w.out = append(append(w.out, text...), "\r\n"...)
}

// flush writes the replies.
func (w *wire) flush() error {
	if len(w.out) == 0 || w.deaf != nil {
		return w.deaf
	}
	by := w.wall.Now().Add(w.timeouts.Write)
	if early := by.Sub(w.writeBy); early < 0 || early > w.timeouts.Write/16 {
		w.writeBy = by
		if w.deaf = w.raw.SetWriteDeadline(by); w.deaf != nil {
			return w.deaf
		}
	}
	_, w.deaf = w.conn.Write(w.out)
	w.out = w.out[:0]
	return w.deaf
}

// secure turns TLS on. Whatever the client sent in the clear behind STARTTLS is forgotten: it may be another's (RFC 3207 §6).
func (w *wire) secure(conn *tls.Conn, handshake func() error) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.start, w.eof = 0, 0
	if err := w.awaitUntil(w.timeouts.Command, true); err != nil {
		return err
	}
	w.writeBy = time.Time{}
	if err := w.raw.SetWriteDeadline(w.wall.Now().Add(w.timeouts.Command)); err != nil {
		return err
	}
	err := handshake()
	w.arrived()
	w.conn = conn
	return err
}

// open gets the input buffer.
func (w *wire) open() {
	w.small = buffer.Get(inputSize)
	*w.small = (*w.small)[:inputSize]
	w.in = *w.small
}

// release returns the input buffer. The wire can still write, but not read.
func (w *wire) release() {
	buffer.Put(w.small)
	w.small, w.in = nil, nil
}

// linger sees to it that the client gets the last reply. To close while it still sends would make its system throw the reply
// away, so its octets are read for a moment, up to some amount.
func (w *wire) linger() {
	const moment, amount = time.Second, 1 << 18
	closer, ok := w.conn.(interface{ CloseWrite() error })
	if !ok || closer.CloseWrite() != nil || w.raw.SetReadDeadline(w.wall.Now().Add(moment)) != nil {
		return
	}
	for n := 0; n < amount; {
		got, err := w.conn.Read(*w.small)
		if err != nil {
			return
		}
		n += got
	}
}

func (w *wire) close() {
	_ = w.conn.Close() // whatever its error, there is nobody left to tell
}
