package gonebox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Event is an event of a mailbox: "message" (with Message), "seen", "deleted", "mailbox" or "end".
type Event struct {
	Name    string
	Message Summary         // of "message"
	Data    json.RawMessage // of every event
}

const (
	silence      = 45 * time.Second // three comment lines that did not come
	slowestRetry = 10 * time.Second
)

// On calls f on a goroutine of its own for each event of that name from now on, until ctx ends or stop is called. Interruptions of
// the connection lose nothing.
func (m *Mailbox) On(ctx context.Context, event string, f func(Event)) (stop func(), err error) {
	newest, err := m.list(ctx, Filter{}.query(), 0)
	if err != nil {
		return nil, err
	}
	last := first
	if len(newest.Data) > 0 {
		last = newest.Data[0].ID
	}
	ctx, cancel := context.WithCancel(ctx)
	go m.follow(ctx, cancel, last, func(e Event) {
		if e.Name == event && ctx.Err() == nil {
			f(e)
		}
	})
	return cancel, nil
}

// follow reads events until the mailbox or ctx ends, and reconnects after the last event it has read.
func (m *Mailbox) follow(ctx context.Context, cancel func(), last string, emit func(Event)) {
	defer cancel()
	for delay := time.Second / 4; ctx.Err() == nil; delay = min(2*delay, slowestRetry) {
		over, err := m.readEvents(ctx, &last, func(e Event) { delay = time.Second / 4; emit(e) })
		var problem *Error
		ended := errors.As(err, &problem) && problem.Status >= 400 && problem.Status < 500 && problem.Status != http.StatusTooManyRequests
		if over || ended || pause(ctx, delay) != nil {
			return
		}
	}
}

// readEvents reads one connection; over is true after the last event of the mailbox.
func (m *Mailbox) readEvents(ctx context.Context, last *string, emit func(Event)) (over bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alarm := time.AfterFunc(silence, cancel)
	defer alarm.Stop()
	answer, err := m.api().send(ctx, http.MethodGet, "/mailboxes/me/events", nil, http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {*last}})
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	var e Event
	for lines.Scan() {
		alarm.Reset(silence)
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "event":
			e.Name = value
		case field == "data":
			e.Data = append(e.Data, value...)
		case field == "id":
			*last = value
		case lines.Text() == "" && e.Data != nil:
			if e.Name == "message" {
				_ = json.Unmarshal(e.Data, &e.Message) // the event is passed on as it is
			}
			if e.Name != "end" || !strings.Contains(string(e.Data), `"shutdown"`) {
				emit(e)
				over = e.Name == "end"
			}
			e = Event{}
		}
		if over {
			return true, nil
		}
	}
	return false, lines.Err()
}
