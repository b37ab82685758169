package apptest

import (
	"crypto/rand"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Delivery is a request that a receiver got.
type Delivery struct {
	Header http.Header
	Body   []byte
	At     time.Time // by the system clock
}

// Event returns the identifier of the event.
func (d Delivery) Event() string { return d.Header.Get("Webhook-Id") }

// Receiver is a webhook endpoint: an HTTPS server on a loopback address of its own, since webhooks permit only two
// ports. A service needs webhooks.allow_networks=127.0.0.0/8 to reach it. It is safe for concurrent use; the mutex
// guards answer and got.
type Receiver struct {
	URL string

	mu     sync.Mutex
	answer http.HandlerFunc
	got    []Delivery
	server *httptest.Server
}

// NewReceiver starts a receiver that responds with 204 until Answer or Status change that. The end of the test closes it.
func (a *Authority) NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }}
	r.server = a.NewServer(t, http.HandlerFunc(r.receive))
	r.URL = r.server.URL + "/hook"
	t.Cleanup(r.Close)
	return r
}

// NewServer starts an HTTPS server on loopback that the service trusts. The caller closes it.
func (a *Authority) NewServer(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	l, addr := listenLoopback(t)
	cert, err := a.issue(addr)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	return s
}

// listenLoopback listens on port 8443, the allowed one that needs no privilege, on a loopback address that is not in
// use.
func listenLoopback(t testing.TB) (net.Listener, net.IP) {
	t.Helper()
	for tries := 50; ; tries-- {
		var b [3]byte
		rand.Read(b[:]) // never fails, as crypto/rand documents
		ip := net.IPv4(127, b[0], b[1], b[2]|1)
		l, err := net.Listen("tcp", net.JoinHostPort(ip.String(), "8443"))
		if err == nil {
			return l, ip
		}
		if tries == 0 {
			t.Fatalf("no address of 127.0.0.0/8 is free at the port 8443: %v, want one", err)
		}
	}
}

// Answer sets the handler for later deliveries. The body has been read by then.
func (r *Receiver) Answer(h http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = h
}

// Status sets the status of the responses to later deliveries.
func (r *Receiver) Status(status int) {
	r.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

// receive records a delivery and responds to it.
func (r *Receiver) receive(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.got = append(r.got, Delivery{Header: req.Header, Body: body, At: now()})
	answer := r.answer
	r.mu.Unlock()
	answer(w, req)
}

// Got returns the deliveries so far.
func (r *Receiver) Got() []Delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// Close ends the receiver: connections are refused from then on.
func (r *Receiver) Close() {
	r.server.CloseClientConnections()
	r.server.Close()
}
