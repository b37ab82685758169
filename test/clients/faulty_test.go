package clients_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// faulty is a service in the middle of a restart, with a proxy in front of it: each call that reads messages fails in
// another way before one succeeds. Its mailboxes and messages are always the same.
type faulty struct {
	address string

	mu       sync.Mutex
	listener net.Listener
	calls    map[string]int // of each mailbox's list, and of each message
	closed   bool
}

// startFaulty starts a faulty service that is closed when the test ends. Programs read its address from the environment
// variable FAULTY_URL.
func startFaulty(t *testing.T) *faulty {
	t.Helper()
	// It closes the port for a moment: of those of the system another program could get it meanwhile, or a client that connects to itself.
	f := &faulty{address: apptest.FreeAddress(t), calls: make(map[string]int)}
	if err := f.listen(); err != nil {
		t.Fatalf("listen at %s: %v", f.address, err)
	}
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.closed = true
		_ = f.listener.Close()
	})
	return f
}

func (f *faulty) environ() string { return "FAULTY_URL=http://" + f.address }

// listen accepts connections at the address until the listener is closed.
func (f *faulty) listen() error {
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return err
	}
	f.serve(l)
	return nil
}

func (f *faulty) serve(l net.Listener) {
	f.mu.Lock()
	f.listener = l
	f.mu.Unlock()
	go func() { _ = http.Serve(l, f) }()
}

// restart refuses connections for a moment.
func (f *faulty) restart() {
	f.mu.Lock()
	_ = f.listener.Close()
	f.mu.Unlock()
	time.AfterFunc(time.Second, func() {
		for f.listen() != nil { // another process may have the port for a moment
			f.mu.Lock()
			closed := f.closed
			f.mu.Unlock()
			if closed {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}

const (
	faultySummary = `{"id":"msg_1","mailboxId":"mbx_1","from":{"name":"","address":"shop@example.org"},"to":[],"subject":"After the restart","receivedAt":"2026-03-14T12:00:00Z",` +
		`"otp":{"code":"246810","display":"246810","messageId":"msg_1","confidence":1,"kind":"code","links":[]}`
	faultyMailbox = `{"data":{"id":"mbx_1","address":"%s@faulty.example","token":"xm_%s","expiresAt":"2036-03-14T12:00:00Z"}}`
	unavailable   = `{"code":"server.unavailable","title":"The service is not available right now","status":503,"traceId":"tr_1"}`
)

// ServeHTTP serves a call. The kind of a mailbox is its name: one whose service is "down" never gets another answer
// than 503.
func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind := r.Header.Get("Authorization")
	f.mu.Lock()
	call := f.calls[kind+r.URL.Path]
	f.calls[kind+r.URL.Path]++
	f.mu.Unlock()
	switch {
	case r.Method == http.MethodPost:
		name := map[bool]string{true: "down", false: "restarted"}[kind == "Bearer xu_down"]
		fmt.Fprintf(w, faultyMailbox, name, name)
	case kind == "Bearer xm_down":
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, unavailable)
	case r.URL.Path == "/api/v1/messages/msg_1" && call == 0:
		abort(w, true)
	case r.URL.Path == "/api/v1/messages/msg_1":
		_, _ = io.WriteString(w, `{"data":`+faultySummary+`,"text":"","html":null,"links":["https://shop.example/verify"],"bestLink":"https://shop.example/verify","attachments":[],"headers":[]}}`)
	default:
		f.list(w, call)
	}
}

// list answers the calls of a list, which fail in turn.
func (f *faulty) list(w http.ResponseWriter, call int) {
	switch call {
	case 0:
		f.restart()
		abort(w, true)
	case 1:
		abort(w, false)
	case 2:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, unavailable)
	case 3:
		http.Error(w, "<h1>Bad Gateway</h1>", http.StatusBadGateway)
	case 4:
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"data":[`)
		abort(w, false)
	default:
		_, _ = io.WriteString(w, `{"data":[`+faultySummary+`}],"nextCursor":null}`)
	}
}

// abort ends the connection without the rest of the response, with a reset or in order.
func abort(w http.ResponseWriter, reset bool) {
	c, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the response has begun
	}
	_ = buffer.Flush()
	if reset {
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	_ = c.Close()
}
