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
	// The errors of line, besides those of the connection. The session continues after errLineTooLong only.
	errLineTooLong = errors.New("command line too long")
	errDraining    = errors.New("the server is shutting down")
	errSessionOver = errors.New("the session has lasted too long")
)

// wire is the connection of a session. It buffers both directions and sets deadlines. It writes replies when the
// session has nothing left to read, so that the replies to pipelined commands are sent together (RFC 2920 §3.2). It
// belongs to the session's goroutine, except for interrupt.
type wire struct {
	raw      net.Conn // the connection itself
	conn     net.Conn // raw, or TLS over it
	timeouts Timeouts
	wall     clock.Clock
	end      time.Time // when the session must end

	small      *[]byte // of inputSize octets, from package buffer
	in         []byte  // *small, or a longer slice of what followed a message's content
	start, eof int     // in[start:eof] is input not yet used
	out        []byte
	writeBy    time.Time // the write deadline set
	writeErr   error     // error of the first write that failed; nothing more is written
	within     bool      // within a mail transaction: shutdown waits for the next command as it does for content

	// mu guards the fields below, which interrupt uses.
	mu       sync.Mutex
	draining bool      // set by interrupt
	waiting  bool      // between mails: the read may be interrupted
	readBy   time.Time // the read deadline set
}

// line returns the next command line with its LF. It is valid until the next call. A line longer than maxLine is
// discarded up to its LF, without keeping more than a buffer of it; errLineTooLong is the only error after which the
// caller may read on.
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

// fill waits for more input. The unused input is an incomplete line, shorter than maxLine.
func (w *wire) fill() error {
	w.eof = copy(*w.small, w.in[w.start:w.eof])
	w.in, w.start = *w.small, 0
	n, err := w.read(w.in[w.eof:], w.timeouts.Command, !w.within)
	w.eof += n
	return err
}

// take returns at most limit octets of the buffered input, which are valid until the next read.
func (w *wire) take(limit int64) []byte {
	n := int(min(limit, int64(w.eof-w.start)))
	w.start += n
	return w.in[w.start-n : w.start]
}

// unread puts back octets that followed a message, which are the beginning of the next command. The buffer must be
// empty. Since a read of content can be larger than the input buffer, the octets may need a slice of their own.
func (w *wire) unread(p []byte) {
	w.in, w.start = *w.small, 0
	if len(p) > len(w.in) {
		w.in = make([]byte, len(p))
	}
	w.eof = copy(w.in, p)
}

// readContent reads octets of a message. Shutdown does not interrupt it.
func (w *wire) readContent(p []byte) (int, error) {
	return w.read(p, w.timeouts.Data, false)
}

// skip reads and discards n octets of content, through the input buffer.
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

// read flushes the replies and waits at most idle for input, and never beyond the session's end. between says that the
// session is between mails, where a shutdown cuts the wait short with errDraining.
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
		return n, nil // the next read returns the error again
	}
	return 0, err
}

// awaitUntil sets the read deadline. A deadline that is at most a sixteenth of idle too early stays in place, since
// setting one costs more than a comparison. Errors: errSessionOver, errDraining.
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

// arrived marks the end of a wait. It reports whether interrupt has ended it, and then makes the next wait set its
// deadline anew: what arrived at the last moment may begin a message, which must be received.
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

// interrupt ends the present or next wait for a command with errDraining. It is the only method that other goroutines may call.
func (w *wire) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = true
	if w.waiting {
		_ = w.raw.SetReadDeadline(time.Unix(1, 0)) // Shutdown closes a connection without deadlines at its end
	}
}

// write adds a reply to those that the next flush sends. If they would exceed outputSize it sends the earlier ones
// first, so that a client that only sends commands cannot fill the memory.
func (w *wire) write(text string) {
	if len(w.out)+len(text) > outputSize {
		_ = w.flush() // the next flush returns the error again
	}
	w.out = append(append(w.out, text...), "\r\n"...)
}

// flush sends the pending replies. It blocks for at most Timeouts.Write, and after one failure returns the same error
// without writing.
func (w *wire) flush() error {
	if len(w.out) == 0 || w.writeErr != nil {
		return w.writeErr
	}
	by := w.wall.Now().Add(w.timeouts.Write)
	if early := by.Sub(w.writeBy); early < 0 || early > w.timeouts.Write/16 {
		w.writeBy = by
		if w.writeErr = w.raw.SetWriteDeadline(by); w.writeErr != nil {
			return w.writeErr
		}
	}
	_, w.writeErr = w.conn.Write(w.out)
	w.out = w.out[:0]
	return w.writeErr
}

// secure runs the TLS handshake. It first discards what was received in clear text after STARTTLS, which an attacker may have injected
// (RFC 3207 §6).
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

// open gets the input buffer from the pool. A connection that is not admitted never needs one.
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

// linger lets the client receive the last reply. Closing a connection while the client is still sending resets it, which can discard the
// reply, so linger reads and discards for a second, up to 256 KiB.
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

// close closes the connection.
func (w *wire) close() {
	_ = w.conn.Close() // an error has no consequence
}
