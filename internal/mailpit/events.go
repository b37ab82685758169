package mailpit

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

const (
	// pollEvery is how often an event stream looks for changes. If there are none, it reads one row.
	pollEvery = 200 * time.Millisecond

	// pingEvery is how long a stream is idle before it sends a ping, so that it notices a broken connection.
	pingEvery = 30 * time.Second
)

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

// event is a message that a stream sends. The names of the fields are those in JSON.
type event struct {
	Type string
	Data any
}

// stats is the data of the event stats.
type stats struct {
	Total, Unread int
	Version       string
	Tags          []string
}

// change is the data of the events update and delete. Read is nil for delete.
type change struct {
	ID   id.SinkMail
	Read *bool `json:",omitempty"`
}

// events sends the changes of the messages over a WebSocket, as the events new, update, delete and truncate, with stats after
// them.
//
// It counts as a long-poll of the client's address until it ends. A second goroutine reads from the client and cancels ctx
// when the client closes the connection. events waits for that goroutine, so that it has ended when Close returns. The
// number of the last change is read before the upgrade, so that no change after the response is missed.
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
	_, last, err := a.Mails.Changes(r.Context(), -1)
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	s, status, reason := upgrade(w, r)
	if s == nil {
		writeError(w, status, reason)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	readerDone := make(chan struct{})
	go func() {
		defer close(readerDone)
		s.readUntilClosed(cancel)
	}()
	a.follow(ctx, s, last)
	cancel()
	_ = s.conn.Close()
	<-readerDone
}

// follow sends the changes after the change numbered last until ctx is done or the API is closed. An error of the database
// ends the stream too, and the client reconnects.
func (a *API) follow(ctx context.Context, s *socket, last int64) {
	_, _, err := a.Mails.Changes(ctx, last)
	for idle := time.Duration(0); err == nil; idle += pollEvery {
		timer := clock.System().NewTimer(pollEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		case <-a.stopping:
			timer.Stop()
			_ = s.writeFrame(opClose, []byte{0x03, 0xe9}) // 1001: going away
			return
		}
		var next int64
		if next, err = a.sendChanges(ctx, s, last); err == nil && next == last && idle >= pingEvery {
			err, idle = s.writeFrame(opPing, nil), 0
		}
		last = next
	}
}

// sendChanges sends the changes after the change numbered last, and the event stats after all of them. It returns the number
// of the last change. If there are no messages left, it also sends truncate, so that clients clear their lists.
func (a *API) sendChanges(ctx context.Context, s *socket, last int64) (int64, error) {
	changes, next, err := a.Mails.Changes(ctx, last)
	if err != nil || len(changes) == 0 {
		return next, err
	}
	for _, c := range changes {
		e := event{"update", change{ID: c.ID}}
		switch {
		case c.Mail == nil:
			e = event{"delete", change{ID: c.ID}}
		case c.New:
			e = event{"new", summaryOf(c.Mail)}
		default:
			e.Data = change{c.ID, &c.Mail.Seen}
		}
		if err := s.sendEvent(e); err != nil {
			return next, err
		}
	}
	page, err := a.Mails.Search(ctx, nil, 0, 0)
	if err != nil {
		return next, err
	}
	if page.Total == 0 {
		if err := s.sendEvent(event{"truncate", nil}); err != nil {
			return next, err
		}
	}
	return next, s.sendEvent(event{"stats", stats{page.Total, page.Unread, a.HTTP.Version, []string{}}})
}

// sendEvent sends an event as a text message.
func (s *socket) sendEvent(e event) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return s.writeFrame(opText, text)
}
