package netguard

import (
	"crypto/tls"
	"io"
	"net/http"
	"sync"
	"time"
)

// What a connection and an answer may take.
const (
	ageMax       = 2 * time.Minute  // of connections that are used again, however busy
	idleMax      = 30 * time.Second // of connections that are not in use
	idleConns    = 256              // of them altogether
	hostConns    = 8                // of them to one host
	headersMax   = 32 << 10         // octets of an answer's header fields
	handshakeMax = 5 * time.Second
	pingAfter    = 5 * time.Second // of silence: an HTTP/2 server that is gone must not swallow requests until ageMax
	h2Buffer     = 64 << 10        // octets that an HTTP/2 server may send before they are read, of a stream
	h2Buffers    = 1 << 20         // and of all streams of a connection
)

// transport sends requests over connections of a bounded age: a young http.Transport takes the place of an old one, whose
// connections close when they fall idle, or idleMax later. So what DNS says holds soon for the busiest host, too.
type transport struct {
	guard *Guard

	mu    sync.Mutex
	young *http.Transport
	born  time.Time
}

// RoundTrip checks the parts of the URL, sends the request and bounds the answer.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := t.guard.parsed(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // the contract of http.RoundTripper
		}
		return nil, err
	}
	answer, err := t.present().RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = bounded{io.LimitReader(answer.Body, t.guard.options.AnswerMax), answer.Body}
	return answer, nil
}

// bounded ends an answer where it gets too long. Closing it before its end closes the connection.
type bounded struct {
	io.Reader
	io.Closer
}

// CloseIdleConnections closes what is kept. http.Client calls it by this name.
func (t *transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.young != nil {
		t.young.CloseIdleConnections()
	}
}

func (t *transport) present() *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.guard.options.Clock.Now()
	if t.young == nil || now.Sub(t.born) >= ageMax {
		if t.young != nil {
			t.young.CloseIdleConnections()
		}
		t.young, t.born = t.guard.newTransport(), now
	}
	return t.young
}

func (g *Guard) newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               nil, // whatever the environment says
		DialContext:         g.dial,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: g.options.RootCAs},
		TLSHandshakeTimeout: handshakeMax,
		ForceAttemptHTTP2:   true,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: h2Buffer, MaxReceiveBufferPerConnection: h2Buffers, SendPingTimeout: pingAfter, PingTimeout: pingAfter,
		},
		MaxResponseHeaderBytes: headersMax,
		MaxIdleConns:           idleConns,
		MaxIdleConnsPerHost:    hostConns,
		IdleConnTimeout:        idleMax,
		DisableCompression:     true, // a bounded answer must not unfold into an unbounded one
	}
}
