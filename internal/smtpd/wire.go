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
	outputSize = 4096 // octets of replies that are collected before they are written
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
	raw        net.Conn // the connection itself
	conn       net.Conn // raw, or TLS over it
	timeouts   Timeouts
	wall       clock.Clock
	sessionEnd time.Time // when the session must end

	inBuf          *[]byte // of inputSize octets, from package buffer
	in             []byte  // *inBuf, or a longer slice of what followed a message's content or of a long line
	inStart, inEnd int     // in[inStart:inEnd] is input not yet used
	maxLine        int     // octets of a command line with its end: maxLine or maxAuthLine
	out            []byte
	writeDeadline  time.Time // that is set; zero: none
	writeErr       error     // error of the first write that failed; nothing more is written
	inTransaction  bool      // a mail transaction is open, so that shutdown does not interrupt the wait for a command

	// mu guards the fields below, which interrupt uses.
	mu            sync.Mutex
	draining      bool      // set by interrupt
	interruptible bool      // the session waits between mails, so that shutdown may interrupt it
	readDeadline  time.Time // that is set; zero: none
}

// line returns the next command line with its LF. It is valid until the next call. A line longer than w.maxLine is
// discarded up to its LF, without keeping more than a buffer of it; errLineTooLong is the only error after which the
// caller may read on.
func (w *wire) line() ([]byte, error) {
	skipping := false
	for {
		if i := bytes.IndexByte(w.in[w.inStart:w.inEnd], '\n'); i >= 0 {
			line := w.in[w.inStart : w.inStart+i+1]
			w.inStart += i + 1
			if skipping || len(line) > w.maxLine {
				return nil, errLineTooLong
			}
			return line, nil
		}
		if w.inEnd-w.inStart >= w.maxLine {
			skipping = true
			w.inStart = w.inEnd
		}
		if err := w.fill(); err != nil {
			return nil, err
		}
	}
}

// fill waits for more input. The unused input is an incomplete line, shorter than w.maxLine.
func (w *wire) fill() error {
	const longSize = maxAuthLine + inputSize
	unused := w.in[w.inStart:w.inEnd]
	switch {
	case len(unused) < maxLine:
		w.in = *w.inBuf
	case len(w.in) < longSize: // the line may be as long as w.maxLine permits
		w.in = make([]byte, longSize)
	}
	w.inStart, w.inEnd = 0, copy(w.in, unused)
	n, err := w.read(w.in[w.inEnd:], w.timeouts.Command, !w.inTransaction)
	w.inEnd += n
	return err
}

// take returns at most limit octets of the buffered input, which are valid until the next read.
func (w *wire) take(limit int64) []byte {
	n := int(min(limit, int64(w.inEnd-w.inStart)))
	w.inStart += n
	return w.in[w.inStart-n : w.inStart]
}

// unread puts back octets that followed a message, which are the beginning of the next command. The buffer must be
// empty. Since a read of content can be larger than the input buffer, the octets may need a slice of their own.
func (w *wire) unread(p []byte) {
	w.in, w.inStart = *w.inBuf, 0
	if len(p) > len(w.in) {
		w.in = make([]byte, len(p))
	}
	w.inEnd = copy(w.in, p)
}

// readContent reads octets of a message. Shutdown does not interrupt it.
func (w *wire) readContent(p []byte) (int, error) {
	return w.read(p, w.timeouts.Data, false)
}

// skip reads and discards n octets of content, through the input buffer.
func (w *wire) skip(n int64) error {
	n -= int64(len(w.take(n)))
	for n > 0 {
		got, err := w.readContent((*w.inBuf)[:min(n, inputSize)])
		if err != nil {
			return err
		}
		n -= int64(got)
	}
	return nil
}

// read flushes the replies and waits for input, at most for idle and never beyond the session's end. If interruptible is
// true, as it is between mails, a shutdown ends the wait with errDraining.
func (w *wire) read(p []byte, idle time.Duration, interruptible bool) (int, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	if err := w.beginWait(idle, interruptible); err != nil {
		return 0, err
	}
	n, err := w.conn.Read(p)
	if interrupted := w.endWait(); n == 0 && err != nil && interrupted {
		return 0, errDraining
	}
	if n > 0 {
		return n, nil // the next read returns the error again
	}
	return 0, err
}

// beginWait sets the read deadline. If the present deadline is at most a sixteenth of idle too early it is kept, since
// setting one costs more than a comparison. Errors: errSessionOver, errDraining.
func (w *wire) beginWait(idle time.Duration, interruptible bool) error {
	now := w.wall.Now()
	if !now.Before(w.sessionEnd) {
		return errSessionOver
	}
	by := now.Add(idle)
	if by.After(w.sessionEnd) {
		by = w.sessionEnd
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining && interruptible {
		return errDraining
	}
	w.interruptible = interruptible
	if early := by.Sub(w.readDeadline); early >= 0 && early <= idle/16 {
		return nil
	}
	w.readDeadline = by
	return w.raw.SetReadDeadline(by)
}

// endWait ends a wait that beginWait began. It reports whether the wait was interrupted, and then makes the next wait set
// a new deadline: if input arrived at the last moment, it may begin a message, which must be received.
func (w *wire) endWait() (interrupted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	interrupted = w.interruptible && w.draining
	if interrupted {
		w.readDeadline = time.Time{}
	}
	w.interruptible = false
	return interrupted
}

// interrupt ends the present or next wait between mails with errDraining. It is the only method that other goroutines may call.
func (w *wire) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = true
	if w.interruptible {
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
	if early := by.Sub(w.writeDeadline); early < 0 || early > w.timeouts.Write/16 {
		w.writeDeadline = by
		if w.writeErr = w.raw.SetWriteDeadline(by); w.writeErr != nil {
			return w.writeErr
		}
	}
	_, w.writeErr = w.conn.Write(w.out)
	w.out = w.out[:0]
	return w.writeErr
}

// startTLS runs the TLS handshake of conn. It first discards what was received in clear text after STARTTLS, which an attacker may have
// injected (RFC 3207 §6).
func (w *wire) startTLS(conn *tls.Conn, handshake func() error) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.inStart, w.inEnd = 0, 0
	if err := w.beginWait(w.timeouts.Command, true); err != nil {
		return err
	}
	w.writeDeadline = time.Time{}
	if err := w.raw.SetWriteDeadline(w.wall.Now().Add(w.timeouts.Command)); err != nil {
		return err
	}
	err := handshake()
	w.endWait()
	w.conn = conn
	return err
}

// acquireBuffer gets the input buffer from the pool. It is called only once the connection is admitted, since others need no buffer.
func (w *wire) acquireBuffer() {
	w.inBuf = buffer.Get(inputSize)
	*w.inBuf = (*w.inBuf)[:inputSize]
	w.in = *w.inBuf
}

// releaseBuffer returns the input buffer to the pool. The wire can still write, but not read.
func (w *wire) releaseBuffer() {
	buffer.Put(w.inBuf)
	w.inBuf, w.in = nil, nil
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
		got, err := w.conn.Read(*w.inBuf)
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
