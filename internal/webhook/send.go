package webhook

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// sendsMax bounds how often an attempt sends its request: once over each idle connection that the HTTP client may keep
// for a host (netguard keeps 8), and once over a new one.
const sendsMax = 9

// send sends the request of an attempt and returns the response.
//
// A receiver may close a kept connection while a request is on its way, which says nothing about the receiver: its idle
// time was over (RFC 9112 §9.3.1). Only the client can tell this from a receiver that fails, and http.Transport does not
// repeat a POST by itself. So send repeats a request that was written to a reused connection and got no octet of a
// response. If the receiver has read it nevertheless, it receives the event twice, with the same Webhook-Id, as after any
// lost response. A new connection that breaks is a failure of the receiver and is reported as such.
func send(client *http.Client, r *http.Request) (*http.Response, error) {
	for n := 1; ; n++ {
		var reused, answered atomic.Bool // the transport sets them on goroutines of its own
		trace := &httptrace.ClientTrace{
			GotConn:              func(c httptrace.GotConnInfo) { reused.Store(c.Reused) },
			GotFirstResponseByte: func() { answered.Store(true) },
		}
		attempt := r.WithContext(httptrace.WithClientTrace(r.Context(), trace))
		response, err := client.Do(attempt) //nolint:gosec // the client is that of netguard, which allows no other networks
		if err == nil || n == sendsMax || !reused.Load() || answered.Load() || isTimeout(err) || r.Context().Err() != nil {
			return response, err
		}
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
}

// isTimeout reports whether a request failed because its time was over.
func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
