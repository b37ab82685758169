package catchall

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// watchedConn is a connection that records when the server has last sent something. It ignores deadlines for reading: those that the
// client sets bound a whole message, however steadily it comes.
type watchedConn struct {
	net.Conn
	heard atomic.Int64 // in nanoseconds since began
	began time.Time

	mu      sync.Mutex // guards what follows
	allowed int64      // octets in all that the commands that are running were allowed
	left    int64      // octets that the server may still send
}

// watch returns a connection that is watched from now on.
func watch(conn net.Conn) *watchedConn {
	return &watchedConn{Conn: conn, began: clock.System().Now(), left: answerMost}
}

// Read implements net.Conn.
func (w *watchedConn) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n > 0 {
		w.heard.Store(int64(clock.System().Now().Sub(w.began)))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left -= int64(n); w.left < 0 {
		_ = w.Close() // so that nothing waits for the rest
		return 0, errTooMuch
	}
	return n, err
}

var errTooMuch = errors.New("the server sends more than was asked for")

// allow lets the server send most octets more, until the function that it returns is called; what is not used up is taken back then. The
// client keeps what it reads of an answer in memory, such as a line or a literal.
func (w *watchedConn) allow(most int64) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allowed += most
	w.left = max(w.left, answerMost) + most // an answer to nothing may have come before
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.allowed -= most
		w.left = min(w.left, answerMost+w.allowed)
	}
}

// SetReadDeadline does nothing.
func (w *watchedConn) SetReadDeadline(time.Time) error { return nil }

// closeWhenSilent closes the connection when the server has sent nothing for silence, and after most, unless done is closed before.
func (w *watchedConn) closeWhenSilent(silence, most time.Duration, done <-chan struct{}) {
	now := clock.System().Now().Sub(w.began)
	end, asked := now+most, now
	for {
		heard := max(asked, time.Duration(w.heard.Load()))
		deadline := min(heard+silence, end)
		if now = clock.System().Now().Sub(w.began); now >= deadline {
			_ = w.Close() // which ends the command with an error
			return
		}
		timer := clock.System().NewTimer(deadline - now)
		select {
		case <-timer.C:
		case <-done:
			timer.Stop()
			return
		}
	}
}
