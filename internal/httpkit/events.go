package httpkit

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
)

// EventStreamType is the media type of server-sent events (WHATWG HTML, Server-sent events).
const EventStreamType = "text/event-stream"

// EventStream is a response that stays open. Its header keeps proxies from compressing or buffering it.
type EventStream struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	Buffering    string `header:"X-Accel-Buffering"`
	Body         func(huma.Context)
}

// EventWriter writes the events of one stream. It holds no memory between two calls of Send.
type EventWriter struct {
	k   *Kit
	ctx context.Context
	w   interface{ Write([]byte) (int, error) }
	buf bytes.Buffer
}

// OpenEvents returns the response of a call that streams events until write returns. The stream is one of the long-polls that an
// address may have open. Error: rate.limited.
func (k *Kit) OpenEvents(ctx context.Context, write func(ctx context.Context, w *EventWriter)) (*EventStream, error) {
	release, err := k.acquirePoll(ctx)
	if err != nil {
		return nil, err
	}
	c := callOf(ctx)
	c.ended = append(c.ended, release)
	return &EventStream{
		ContentType: EventStreamType, CacheControl: "no-store, no-transform", Buffering: "no",
		Body: func(h huma.Context) {
			// The server's read timeout bounds how long a request takes to arrive. It would end the stream, and so would the write
			// timeout on HTTP/2, where it ends a stream that writes nothing as well.
			connection := http.NewResponseController(c.writer)
			_, _ = connection.SetReadDeadline(time.Time{}), connection.SetWriteDeadline(time.Time{})
			write(ctx, &EventWriter{k: k, ctx: ctx, w: h.BodyWriter()})
		},
	}, nil
}

// Add adds an event to what Send will send. id may be empty. Data is encoded as JSON.
func (w *EventWriter) Add(event, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if event != "" {
		w.line("event: ", event)
	}
	if id != "" {
		w.line("id: ", id)
	}
	w.line("data: ", string(text))
	w.buf.WriteByte('\n')
	return nil
}

func (w *EventWriter) line(name, value string) {
	w.buf.WriteString(name)
	w.buf.WriteString(strings.NewReplacer("\r", "", "\n", "").Replace(value)) // JSON has neither
	w.buf.WriteByte('\n')
}

// Comment adds a comment, which clients ignore. It keeps the connection open where proxies close idle ones, and shows this
// side that the client is gone.
func (w *EventWriter) Comment() { w.buf.WriteString(":\n\n") }

// Send sends the events that add adds. Both run on a new goroutine, so that the goroutine of an idle stream keeps a small stack. The
// client has the write timeout to read them. Error: the client has disconnected or is too slow, or there is no memory for the events;
// the stream must then end.
func (w *EventWriter) Send(add func()) error {
	sent := make(chan error, 1)
	go func() {
		add()
		sent <- w.send()
	}()
	return <-sent
}

func (w *EventWriter) send() error {
	defer func() { w.buf = bytes.Buffer{} }()
	c := callOf(w.ctx)
	if w.buf.Len() > smallEvents {
		if err := w.k.Reserve(w.ctx, budget.Response, int64(w.buf.Len())); err != nil {
			return err
		}
		defer c.release()
	}
	connection := http.NewResponseController(c.writer)
	// A network deadline is on the machine's clock, whatever clock the service runs by.
	_ = connection.SetWriteDeadline(clock.System().Now().Add(w.k.WriteTimeout))
	if _, err := w.w.Write(w.buf.Bytes()); err != nil {
		return err
	}
	if err := connection.Flush(); err != nil {
		return err
	}
	return connection.SetWriteDeadline(time.Time{})
}

// smallEvents is how many octets are sent without reserving memory: comments and most events.
const smallEvents = 4 << 10
