package blackbox_test

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// eventStream is a client of the WebSocket of the Mailpit API.
type eventStream struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// mailpitEvent is an event of a stream.
type mailpitEvent struct {
	Type string
	Data mailpitSummary
}

// follow opens an event stream, with more fields of the header.
func (m *mailpit) follow(fields ...string) *eventStream {
	m.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(m.base, "http://"))
	if err != nil {
		m.t.Fatalf("connect to %s: %v", m.base, err)
	}
	m.t.Cleanup(func() { conn.Close() })
	key := base64.StdEncoding.EncodeToString([]byte("the sample nonce")) // with the accepted value of RFC 6455 §1.3
	fmt.Fprintf(conn, "GET /api/events HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n%s\r\n", key, strings.Join(fields, ""))
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		m.t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != 101 || res.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		m.t.Fatalf("GET /api/events: %v %v, want 101", res, err)
	}
	return &eventStream{m.t, conn, in}
}

// frame reads the next frame, for which it waits for patience at most.
func (s *eventStream) frame() (opcode byte, payload []byte, err error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, nil, err
	}
	var head [2]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return 0, nil, err
	}
	n := uint64(head[1])
	for code, octets := range map[byte]int{126: 2, 127: 8} {
		if head[1] != code {
			continue
		}
		var size [8]byte
		if _, err := io.ReadFull(s.in, size[8-octets:]); err != nil {
			return 0, nil, err
		}
		n = binary.BigEndian.Uint64(size[:])
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(s.in, payload)
	return head[0] & 15, payload, err
}

// next reads the next frame, which must come, and decodes it if it is an event.
func (s *eventStream) next() (opcode byte, e mailpitEvent) {
	s.t.Helper()
	opcode, payload, err := s.frame()
	if err != nil {
		s.t.Fatalf("read a frame: %v", err)
	}
	if opcode == 1 {
		if err := json.Unmarshal(payload, &e); err != nil {
			s.t.Fatalf("decode an event: %v in %.200s", err, payload)
		}
	}
	return opcode, e
}

// expect reads as many events, and returns the last identifier of a message in them.
func (s *eventStream) expect(types ...string) (id string) {
	s.t.Helper()
	for _, want := range types {
		_, e := s.next()
		if e.Type != want {
			s.t.Errorf("event %s, want %s", e.Type, want)
		}
		if e.Data.ID != "" {
			id = e.Data.ID
		}
	}
	return id
}

func TestMailpitEvents(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	if a := m.try(http.MethodGet, "/api/events", "", nil); a.Status != 400 {
		t.Errorf("GET /api/events without an upgrade: %d, want 400", a.Status)
	}
	s := m.follow()
	m.smtp("hello", "", "ada@company.test")
	id := s.expect("new", "stats")
	m.ask(http.MethodGet, "/api/v1/message/"+id, "", nil)
	if got := s.expect("update", "stats"); got != id {
		t.Errorf("the update is of %s, want %s", got, id)
	}
	m.ask(http.MethodDelete, "/api/v1/messages", "", nil)
	if got := s.expect("delete", "truncate", "stats"); got != id {
		t.Errorf("the delete is of %s, want %s", got, id)
	}
	if _, err := s.conn.Write([]byte{0x89, 0x81, 0, 0, 0, 0, 'x'}); err != nil { // a ping
		t.Fatal(err)
	}
	if opcode, _ := s.next(); opcode != 10 {
		t.Errorf("opcode %d after a ping, want a pong", opcode)
	}
	if _, err := s.conn.Write([]byte{0x88, 0x80, 0, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if opcode, _ := s.next(); opcode != 8 {
		t.Errorf("opcode %d after a close, want close", opcode)
	}
}

// All streams get the same events, and a stream that begins later gets those after its beginning alone. With the last
// stream the feed ends, and the next stream begins another.
func TestMailpitStreamsShareTheEvents(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for range 2 {
		m.smtp("before", "", "ada@company.test")
		first, second := m.follow(), m.follow()
		m.smtp("hello", "", "ada@company.test")
		id := first.expect("new", "stats")
		if got := second.expect("new", "stats"); got != id {
			t.Errorf("the second stream got %s, want %s", got, id)
		}
		m.smtp("again", "", "ada@company.test")
		late := m.follow()
		id = first.expect("new", "stats")
		second.expect("new", "stats")
		m.ask(http.MethodGet, "/api/v1/message/"+id, "", nil)
		for _, s := range []*eventStream{first, second, late} {
			if got := s.expect("update", "stats"); got != id {
				t.Errorf("the update is of %s, want %s", got, id)
			}
			s.conn.Close()
		}
	}
}

// A client that does not read is disconnected, and the others get every event meanwhile.
func TestMailpitStreamThatLagsIsClosed(t *testing.T) {
	t.Parallel()
	const mails = 300
	m := startMailpit(t, nil)
	lagging, reading := m.follow(), m.follow()
	names := make([]string, 90)
	for i := range names {
		names[i] = fmt.Sprintf("%s <user%d@company.test>", strings.Repeat("n", 800), i)
	}
	header := "From: app@company.test\r\nTo: " + strings.Join(names, ",\r\n ") + "\r\nSubject: "
	got := make(chan int, 1)
	go func() {
		n := 0
		for n < mails {
			_, payload, err := reading.frame()
			if err != nil {
				break
			}
			if strings.HasPrefix(string(payload), `{"Type":"new"`) {
				n++
			}
		}
		got <- n
	}()
	for i := range mails {
		m.smtp("long", fmt.Sprintf("%s%d\r\n\r\nhi\r\n", header, i), "ada@company.test")
	}
	if n := <-got; n != mails {
		t.Errorf("the client that reads got %d new messages, want %d", n, mails)
	}
	n := 0
	for {
		_, payload, err := lagging.frame()
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			t.Fatalf("after %d new messages the stream of the client that did not read is open, want it closed", n)
		}
		if err != nil {
			break
		}
		if strings.HasPrefix(string(payload), `{"Type":"new"`) {
			n++
		}
	}
	if n >= mails {
		t.Errorf("the client that did not read got %d new messages, want fewer than %d: they fit the buffers of the system, and the test proves nothing", n, mails)
	}
}
