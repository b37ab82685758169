package netguard

import (
	"crypto/tls"
	"io"
	"net/http"
	"sync"
	"time"
)

// Limits of a connection and a response.
const (
	ageMax       = 2 * time.Minute  // of a connection, however busy
	idleMax      = 30 * time.Second // of an idle connection
	idleConns    = 256              // in all
	hostConns    = 8                // to one host
	headersMax   = 32 << 10         // octets of a response's header fields
	handshakeMax = 5 * time.Second
	pingAfter    = 5 * time.Second // of silence: an HTTP/2 server that is gone must not receive requests until ageMax
	h2Buffer     = 64 << 10        // octets of a stream that an HTTP/2 server may send before they are read
	h2Buffers    = 1 << 20         // the same of all streams of a connection
)

// transport sends requests over connections of a bounded age, so that changes in DNS take effect even for a busy host: after ageMax a new
// http.Transport replaces the old one, whose connections close when they become idle.
type transport struct {
	guard *Guard

	mu      sync.Mutex // guards the fields below
	current *http.Transport
	born    time.Time
}

// RoundTrip checks the parts of the URL, sends the request and bounds the response body. The dialer checks the
// addresses; those of a plain HTTP request are checked here too, since the dialer does not know the scheme.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	h, err := t.guard.parsed(r.URL)
	if err == nil && h.plain {
		_, err = t.guard.addresses(r.Context(), h)
	}
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // the contract of http.RoundTripper
		}
		return nil, err
	}
	response, err := t.present().RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = bounded{io.LimitReader(response.Body, t.guard.options.ResponseMax), response.Body}
	return response, nil
}

// bounded ends a response body after ResponseMax octets, as if it were complete. Closing it before its end closes the
// connection.
type bounded struct {
	io.Reader
	io.Closer
}

// CloseIdleConnections closes idle connections. http.Client calls it by this name.
func (t *transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil {
		t.current.CloseIdleConnections()
	}
}

// present returns the current transport, or a new one if that is too old.
func (t *transport) present() *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.guard.options.Clock.Now()
	if t.current == nil || now.Sub(t.born) >= ageMax {
		if t.current != nil {
			t.current.CloseIdleConnections()
		}
		t.current, t.born = t.guard.newTransport(), now
	}
	return t.current
}

// newTransport returns a transport with connections of its own.
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
		DisableCompression:     true, // a small response must not decompress into a large one
	}
}
