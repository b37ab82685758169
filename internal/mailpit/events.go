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

// pollEvery is how often an event stream looks for changes: a read of one row if there are none. pingEvery is how often
// it sends a ping, so that a connection that is gone is noticed.
const (
	pollEvery = 200 * time.Millisecond
	pingEvery = 30 * time.Second
)

// streams counts the open event streams, so that Close can wait for them. A hijacked connection is unknown to the HTTP
// server, whose shutdown does not wait for it.
type streams struct {
	// mu guards closed, and orders enter and close, so that no stream is added while close waits.
	mu     sync.Mutex
	closed bool
	open   sync.WaitGroup
}

// enter counts a new stream and returns true, or returns false if the API is closed.
func (s *streams) enter() bool {
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

// event is a message of the stream.
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

// changed is the data of the events update and delete.
type changed struct {
	ID   id.SinkMail
	Read *bool `json:",omitempty"`
}

// events sends each change of the messages over a WebSocket: new, update, delete or truncate, and stats after each.
//
// It holds a slot of its address's long-polls until it ends. A second goroutine reads from the client and cancels ctx
// when the connection ends; events waits for it, so that it has ended when Close returns. The first number is read
// before the upgrade, so that no change after the answer is missed.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	release, free := a.HTTP.Gauge.Acquire(ratelimit.LongPolls, httpkit.AddrIdentity(r.Context()), a.HTTP.LongPolls)
	if !free {
		writeError(w, http.StatusTooManyRequests, "too many event streams are open from your address")
		return
	}
	defer release()
	if !a.streams.enter() {
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
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		s.read(cancel)
	}()
	a.follow(ctx, s, last)
	cancel()
	_ = s.conn.Close()
	<-reading
}

// follow sends events until the client or the service ends the stream. An error of the database ends the stream: the
// client connects again.
func (a *API) follow(ctx context.Context, s *socket, last int64) {
	_, _, err := a.Mails.Changes(ctx, last)
	for quiet := time.Duration(0); err == nil; quiet += pollEvery {
		timer := clock.System().NewTimer(pollEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		case <-a.stopping:
			timer.Stop()
			_ = s.write(opClose, []byte{0x03, 0xe9}) // 1001: going away
			return
		}
		var next int64
		if next, err = a.sendChanges(ctx, s, last); err == nil && next == last && quiet >= pingEvery {
			err, quiet = s.write(opPing, nil), 0
		}
		last = next
	}
}

// sendChanges sends what has changed after the change numbered last, and returns the number of the last one. The stats
// are read once for all changes. Without any message left, truncate is sent too, on which clients clear their lists.
func (a *API) sendChanges(ctx context.Context, s *socket, last int64) (int64, error) {
	changes, next, err := a.Mails.Changes(ctx, last)
	if err != nil || len(changes) == 0 {
		return next, err
	}
	for _, c := range changes {
		e := event{"update", changed{ID: c.ID}}
		switch {
		case c.Mail == nil:
			e = event{"delete", changed{ID: c.ID}}
		case c.New:
			e = event{"new", summaryOf(c.Mail)}
		default:
			e.Data = changed{c.ID, &c.Mail.Seen}
		}
		if err := s.event(e); err != nil {
			return next, err
		}
	}
	page, err := a.Mails.Search(ctx, nil, 0, 0)
	if err != nil {
		return next, err
	}
	if page.Total == 0 {
		if err := s.event(event{"truncate", nil}); err != nil {
			return next, err
		}
	}
	return next, s.event(event{"stats", stats{page.Total, page.Unread, a.HTTP.Version, []string{}}})
}

// event sends an event as a text message.
func (s *socket) event(e event) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return s.write(opText, text)
}
