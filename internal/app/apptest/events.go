package apptest

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Event is an event of a stream, or a comment, whose Name is ":". The service sends comments to keep a connection
// open.
type Event struct{ Name, ID, Data string }

// Into decodes the data of an event into v.
func (e Event) Into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.Data), v); err != nil {
		t.Fatalf("decode the data of the event %+v: %v", e, err)
	}
}

// Stream is an open event stream. A goroutine reads it into a buffer of 1000 events, so that the service never waits
// for the test.
type Stream struct {
	Header http.Header

	t      testing.TB
	events chan Event
	close  func() error
}

// OpenStream opens an event stream and waits for its first comment, after which no event is missed. The end of the
// test closes it. A header may be given by name and value.
func (s *Service) OpenStream(path, token string, header ...string) *Stream {
	s.t.Helper()
	r, err := s.Request(s.t.Context(), http.MethodGet, path, token, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(header) > 0 {
		r.Header.Set(header[0], header[1])
	}
	res, err := s.open(r)
	if err != nil {
		s.t.Fatalf("open %s: %v", path, err)
	}
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("open %s: status %d, want 200", path, res.StatusCode)
	}
	stream := &Stream{Header: res.Header, t: s.t, events: make(chan Event, 1000), close: res.Body.Close}
	s.t.Cleanup(stream.Close)
	go stream.read(bufio.NewScanner(res.Body))
	if first := stream.Any(); first.Name != ":" {
		s.t.Fatalf("the stream of %s begins with %+v, want a comment", path, first)
	}
	return stream
}

// read reads events until the stream ends (WHATWG HTML, Server-sent events). It is the goroutine of the stream.
func (s *Stream) read(lines *bufio.Scanner) {
	defer close(s.events)
	lines.Buffer(nil, 1<<20)
	var e Event
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			e.Name = value
		case "id":
			e.ID = value
		case "data":
			e.Data += value
		default:
			if lines.Text() == "" {
				s.events <- e
				e = Event{}
			} else {
				e.Name = ":"
			}
		}
	}
}

// Any returns the next event or comment; the zero Event at the end of the stream.
func (s *Stream) Any() Event {
	s.t.Helper()
	select {
	case e := <-s.events:
		return e
	case <-clock.System().NewTimer(streamMax).C:
		s.t.Fatalf("the stream sent nothing within %s, want an event or a comment", streamMax)
		return Event{}
	}
}

// streamMax bounds a test that hangs: two comments of an idle stream.
const streamMax = 31 * time.Second

// commentsMax is how many comments a test reads before the event that it waits for. A stream without events never ends by itself.
const commentsMax = 4

// Next returns the next event; the zero Event at the end of the stream.
func (s *Stream) Next() Event {
	s.t.Helper()
	for range commentsMax + 1 {
		if e := s.Any(); e.Name != ":" {
			return e
		}
	}
	s.t.Fatal("the stream sent nothing but comments, want an event")
	return Event{}
}

// Close ends the stream.
func (s *Stream) Close() { _ = s.close() }
