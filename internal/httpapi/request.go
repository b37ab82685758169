package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

// call is what is known of a request from its first line on.
type call struct {
	api       *API
	trace     trace
	client    netip.Addr
	writer    http.ResponseWriter // the connection's own, for its deadlines
	operation string              // once it is found
	leases    []*budget.Lease     // see reserve
}

type callKey struct{}

// request is the call that ctx belongs to.
func request(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{api: &API{}}
}

// TraceID is the trace id of the request that ctx belongs to, for log lines; "" outside of one.
func TraceID(ctx context.Context) string {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.trace.id()
	}
	return ""
}

// outermost is what every request passes first: trace, client address, CORS, unknown paths, panics, the log.
func (a *API) outermost(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := a.Clock.Now()
		c := &call{api: a, trace: newTrace(r.Header.Get("Traceparent")), client: clientAddr(r, a.Settings.TrustedProxies), writer: w}
		rec := &recorder{ResponseWriter: w}
		rec.Header().Set("Traceparent", c.trace.String())
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
		defer c.release()
		defer func() { a.finish(r.Context(), rec, r, started, recover()) }()
		if a.beyond(rec, r) || preflight(rec, r) {
			return
		}
		if !clean(r.URL.Path) {
			a.answer(r.Context(), rec, problem.New(problem.RouteNotFound)) // the router would send it elsewhere
			return
		}
		if _, pattern := mux.Handler(r); pattern == "" {
			a.unrouted(rec, r, mux)
			return
		}
		mux.ServeHTTP(rec, r)
	})
}

// clean reports whether a path is as it is meant: without empty elements and dots.
func clean(p string) bool {
	c := path.Clean(p)
	return strings.HasPrefix(p, "/") && (p == c || c != "/" && p == c+"/")
}

// clientGone is the status that the log and the metrics show for a client that did not wait for its answer.
const clientGone = 499

// finish ends a request: a panic becomes a 500, and the log and the metrics hear of it.
func (a *API) finish(ctx context.Context, w *recorder, r *http.Request, started time.Time, panicked any) {
	c := request(ctx)
	if panicked != nil {
		a.recovered(ctx, w, panicked)
	}
	if ctx.Err() != nil {
		w.status = clientGone
	}
	took := a.Clock.Now().Sub(started)
	if a.Observe != nil {
		a.Observe(c.operation, w.status, took)
	}
	level := slog.LevelDebug
	if w.status >= 500 {
		level = slog.LevelWarn
	}
	a.Logger.LogAttrs(ctx, level, "request", slog.String("method", r.Method), slog.String("operation", c.operation),
		slog.Int("status", w.status), slog.Duration("took", took), slog.String("client", c.client.String()))
}

// recovered answers for a handler that panicked; if it had begun to answer, its connection is broken off.
func (a *API) recovered(ctx context.Context, w *recorder, panicked any) {
	if panicked == http.ErrAbortHandler { //nolint:errorlint // a sentinel that net/http compares like this
		panic(panicked)
	}
	if err, ok := panicked.(error); ok && w.status != 0 {
		if _, network := errors.AsType[net.Error](err); network { // the library panics where the client does not take the answer
			a.Logger.LogAttrs(ctx, slog.LevelDebug, "answer not taken", slog.String("operation", request(ctx).operation), slog.Any("error", err))
			panic(http.ErrAbortHandler)
		}
	}
	a.Logger.LogAttrs(ctx, slog.LevelError, "call panicked", slog.String("operation", request(ctx).operation),
		slog.Any("panic", panicked), slog.String("stack", string(debug.Stack())))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	a.answer(ctx, w, problem.New(problem.ServerInternal))
}

// unrouted tells an unknown path from a wrong method.
func (a *API) unrouted(w http.ResponseWriter, r *http.Request, mux *http.ServeMux) {
	probe := &probe{header: http.Header{}}
	mux.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", probe.header.Get("Allow"))
		a.answer(r.Context(), w, problem.Detailf(problem.RouteMethod, "this path takes %s", probe.header.Get("Allow")))
		return
	}
	a.answer(r.Context(), w, problem.Detailf(problem.RouteNotFound, "the interface is described at %s/docs", a.Settings.BaseURL))
}

// preflight answers what a browser asks before a call from another origin: any origin may call, since there are no
// cookies to ride on (decisions §1).
func preflight(w http.ResponseWriter, r *http.Request) (done bool) {
	if !strings.HasPrefix(r.URL.Path, BasePath+"/") {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "Retry-After, RateLimit, RateLimit-Policy, Traceparent, Content-Disposition, WWW-Authenticate")
	if r.Method != http.MethodOptions {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Idempotency-Key, Traceparent, X-Api-Key")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// recorder remembers the status, and puts on every answer what belongs on all of them.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader sends the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
		h := r.Header()
		challenge(h, status)
		h.Set("X-Content-Type-Options", "nosniff")
		if h.Get("Cache-Control") == "" {
			h.Set("Cache-Control", "no-store") // answers hold mail and tokens
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// probe takes an answer that nobody sees.
type probe struct {
	header http.Header
	status int
}

// Header is the answer's header.
func (p *probe) Header() http.Header { return p.header }

// WriteHeader notes the status.
func (p *probe) WriteHeader(status int) { p.status = status }

// Write drops the body.
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
