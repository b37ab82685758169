package httpkit

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/problem"
)

// Plain returns the handler of an API that has no OpenAPI document, since another service has defined it. Like Kit.Handler it
// sets the trace and the client's address, ends leases of memory, recovers panics, and records the request; operation names a
// request for the log and the metrics.
func (k *Kit) Plain(h http.Handler, operation func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := k.Clock.Now()
		c := &call{kit: k, trace: newTrace(r.Header.Get("Traceparent")), client: clientAddr(r, k.TrustedProxies), writer: w, operation: operation(r)}
		c.unlimited = k.isUnlimited(r, c.client)
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

// ProblemOf returns the problem that clients are told for an error. It logs errors that are the service's own fault.
func (k *Kit) ProblemOf(ctx context.Context, err error) *problem.Problem {
	return k.problemOf(ctx, err)
}
