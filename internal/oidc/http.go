package oidc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Bounds of an exchange with the issuer. A browser waits meanwhile.
const (
	exchangeMax  = 10 * time.Second
	connectMax   = 5 * time.Second
	responseMax  = 1 << 20  // octets; a token with hundreds of groups has some 50,000
	headersMax   = 64 << 10 // octets
	idleMax      = 30 * time.Second
	idleConnsMax = 8
)

// newHTTPClient returns a client for the issuer. It follows no redirects: requests carry the client's secret.
func newHTTPClient() *http.Client {
	return &http.Client{
		Timeout:       exchangeMax,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: bounded{&http.Transport{
			DialContext:            (&net.Dialer{Timeout: connectMax}).DialContext,
			TLSHandshakeTimeout:    connectMax,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           idleConnsMax,
			IdleConnTimeout:        idleMax,
			MaxResponseHeaderBytes: headersMax,
			DisableCompression:     true, // a small response must not decompress into a large one
		}},
	}
}

// bounded bounds the bodies of responses, and speaks plain HTTP with this machine alone, whatever the discovery document says.
type bounded struct{ *http.Transport }

// RoundTrip sends a request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !isLoopback(r.URL.Hostname()) {
		if r.Body != nil {
			_ = r.Body.Close() // the contract of http.RoundTripper
		}
		return nil, fmt.Errorf("%s://%s is not https", r.URL.Scheme, r.URL.Host)
	}
	response, err := b.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &boundedBody{response.Body, responseMax}
	return response, nil
}

var errTooLarge = errors.New("the response is too large")

// boundedBody fails once more than left octets were read.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read reads a part of the body.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// brief returns the text of an error on one line without what the issuer sent, which may be long and contain anything.
func brief(err error) string {
	const most = 200
	text, _, _ := strings.Cut(err.Error(), "\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
