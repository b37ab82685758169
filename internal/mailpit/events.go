package mailpit

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// pingEvery is how long a stream is idle before it sends a ping, so that it notices a broken connection.
const pingEvery = 30 * time.Second

// streams counts the open event streams, so that Close can wait for them. Shutdown of the HTTP server does not wait for
// them, since it does not know their hijacked connections. It is safe for concurrent use.
type streams struct {
	// mu guards closed. It is held while open is incremented, so that no stream is added after close has begun to wait.
	mu     sync.Mutex
	closed bool
	open   sync.WaitGroup
}

// add counts a new stream and returns true, or returns false if the API is closed.
func (s *streams) add() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open.Add(1)
	}
	return !s.closed
}

// close closes stopping, which ends the streams, and waits until they have ended.
func (s *streams) close(stopping chan struct{}) {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(stopping)
	}
	s.mu.Unlock()
	s.open.Wait()
}

// events sends the changes of the messages over a WebSocket, as the events new, update, delete and truncate, with stats after
// them.
//
// It counts as a long-poll of the client's address until it ends. A second goroutine reads from the client and cancels ctx
// when the client closes the connection. events waits for that goroutine, so that it has ended when Close returns. The
// stream joins the feed before the upgrade, so that no change after the response is missed.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	release, ok := a.HTTP.Gauge.Acquire(ratelimit.LongPolls, httpkit.AddrIdentity(r.Context()), a.HTTP.LongPolls)
	if !ok {
		writeError(w, http.StatusTooManyRequests, "too many event streams are open from your address")
		return
	}
	defer release()
	if !a.streams.add() {
		writeError(w, http.StatusServiceUnavailable, "the service is shutting down")
		return
	}
	defer a.streams.open.Done()
	of, f, err := a.feeds.join(r.Context())
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	defer a.feeds.leave(r.Context(), of, f)
	s, status, reason := upgrade(w, r)
	if s == nil {
		writeError(w, status, reason)
		return
	}
	// A client that does not read may keep a goroutine that writes to it, so the connection is closed as soon as ctx is done.
	closed := context.AfterFunc(f.ctx, func() { _ = s.conn.Close() })
	readerDone := make(chan struct{})
	go func() {
		defer close(readerDone)
		s.readUntilClosed(f.cancel)
	}()
	a.follow(s, f, func() bool { return a.mayGoOn(r) })
	if closed() {
		_ = s.conn.Close()
	}
	<-readerDone
}

// follow sends the batches of the feed until the stream must end, the API is closed or a frame cannot be sent. The client
// then connects again. mayGoOn is asked before each batch.
func (a *API) follow(s *socket, f *follower, mayGoOn func() bool) {
	for {
		timer := clock.System().NewTimer(pingEvery)
		var err error
		select {
		case <-f.ready:
			if err = f.checkOn(s, mayGoOn); err == nil {
				err = f.send(s)
			}
		case <-timer.C:
			if err = f.checkOn(s, mayGoOn); err == nil {
				err = s.writeFrame(opPing, nil)
			}
		case <-f.ctx.Done():
			err = f.ctx.Err()
		case <-a.stopping:
			_ = s.writeFrame(opClose, []byte{0x03, 0xe9}) // 1001: going away
			err = http.ErrServerClosed
		}
		timer.Stop()
		if err != nil {
			return
		}
	}
}

// errForbidden means that a client may no longer have what it follows.
var errForbidden = errors.New("the client may not follow this any more")

// checkOn closes the stream of a client that may not go on.
func (*follower) checkOn(s *socket, mayGoOn func() bool) error {
	if mayGoOn() {
		return nil
	}
	_ = s.writeFrame(opClose, []byte{0x03, 0xf0}) // 1008: policy violation
	return errForbidden
}

// send sends the batches in the queue.
func (f *follower) send(s *socket) error {
	for b := f.take(); b != nil; b = f.take() {
		err := s.send(b.frames)
		b.done()
		if err != nil {
			return err
		}
	}
	return nil
}
