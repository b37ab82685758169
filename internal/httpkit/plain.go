package httpkit

import (
	"context"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/problem"
)

// Plain returns the handler of an API that has no OpenAPI document, since another service has defined it. Like Kit.Handler it
// sets the trace and the client's address, ends leases of memory, recovers panics, and records the request; operation names a
// request for the log and the metrics.
func (k *Kit) Plain(h http.Handler, operation func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := k.Clock.Now()
		c := &call{kit: k, trace: newTrace(r.Header.Get("Traceparent")), client: clientAddr(r, k.TrustedProxies), writer: w, operation: operation(r)}
		k.setLocal(c, r)
		rec := &recorder{ResponseWriter: w}
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
		defer c.release()
		defer func() { k.finish(r.Context(), rec, r, started, recover()) }()
		if k.refuseConnection(rec, r) {
			return
		}
		h.ServeHTTP(rec, r)
	})
}

// ProblemOf returns the problem with which the service responds to an error. It logs errors that are the service's own fault.
func (k *Kit) ProblemOf(ctx context.Context, err error) *problem.Problem {
	return k.problemOf(ctx, err)
}

// CORS responds to a CORS preflight and reports whether it did. It sets the CORS fields of other responses, so that pages of any origin may
// call an API that asks for a token.
func (k *Kit) CORS(w http.ResponseWriter, r *http.Request) (done bool) { return k.preflight(w, r) }

// StreamEvents responds with the events that write sends, until it returns. The stream is one of the long-polls that an address may
// have open. Error: rate.limited, before the response has begun.
func (k *Kit) StreamEvents(w http.ResponseWriter, r *http.Request, write func(ctx context.Context, w *EventWriter)) error {
	release, err := k.acquirePoll(r.Context())
	if err != nil {
		return err
	}
	defer release()
	// The server's read timeout bounds how long a request takes to arrive. It would end the stream.
	_ = http.NewResponseController(callOf(r.Context()).writer).SetReadDeadline(time.Time{})
	h := w.Header()
	h.Set("Content-Type", EventStreamType)
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	write(r.Context(), &EventWriter{k: k, ctx: r.Context(), w: w})
	return nil
}
