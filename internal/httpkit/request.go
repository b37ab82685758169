package httpkit

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
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// call is the state of a request, in its context from the start.
type call struct {
	kit       *Kit
	trace     trace
	client    netip.Addr
	userAgent string              // as the client sent it
	notLocal  error               // why the request is not local, see Config.CheckLocal; nil: it is
	notOwn    error               // the same for Config.CheckOwn
	writer    http.ResponseWriter // the connection's own, for its deadlines
	operation string              // its id, "" before it is known
	code      problem.Code        // of the problem that is the response; "": another response
	leases    []*budget.Lease     // see Reserve
	ended     []func()            // called after the response
}

type callKey struct{}

// callOf returns the call that ctx belongs to.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{kit: &Kit{}, notLocal: errNotLocal, notOwn: errNotLocal}
}

// identity is what a client without a credential is counted by.
func (c *call) identity() string { return ratelimit.AddrIdentity(c.client) }

// ClientAddr returns the client's address of the request that ctx belongs to.
func ClientAddr(ctx context.Context) netip.Addr { return callOf(ctx).client }

// UserAgent returns what the client of the request that ctx belongs to says it is.
func UserAgent(ctx context.Context) string { return callOf(ctx).userAgent }

// IsLocal reports whether the request that ctx belongs to is local, by Config.CheckLocal.
func IsLocal(ctx context.Context) bool { return CheckLocal(ctx) == nil }

// CheckOwn returns nil if the request that ctx belongs to is local and comes from no page of another host or port, otherwise the
// error of Config.CheckOwn.
func CheckOwn(ctx context.Context) error { return callOf(ctx).notOwn }

// CheckLocal returns nil if the request that ctx belongs to is local, otherwise the error of Config.CheckLocal.
func CheckLocal(ctx context.Context) error { return callOf(ctx).notLocal }

// Identity returns what limits by address count a request by that is not one to this API.
func Identity(r *http.Request, trusted []netip.Prefix) string {
	return ratelimit.AddrIdentity(clientAddr(r, trusted))
}

// AddrIdentity returns what limits by address count the request that ctx belongs to by.
func AddrIdentity(ctx context.Context) string { return callOf(ctx).identity() }

// TraceID returns the trace id of the request that ctx belongs to, for log lines; "" outside of a request.
func TraceID(ctx context.Context) string {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.trace.id()
	}
	return ""
}

// outermost returns the handler that every request passes first. It sets the trace and the client's address, handles CORS
// preflights and unknown paths, recovers panics and logs the request.
func (k *Kit) outermost() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := k.Clock.Now()
		c := &call{kit: k, trace: newTrace(r.Header.Get("Traceparent")), client: clientAddr(r, k.TrustedProxies), userAgent: r.UserAgent(), writer: w}
		k.setLocal(c, r)
		packed := newCompressor(k.gzip, w, r)
		defer packed.release()
		rec := &recorder{ResponseWriter: packed}
		rec.Header().Set("Traceparent", c.trace.String())
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
		defer c.end()
		defer func() {
			k.finish(r.Context(), rec, r, started, recover())
			packed.end()
		}()
		if k.refuseConnection(rec, r) || k.preflight(rec, r) {
			return
		}
		if !clean(r.URL.Path) {
			k.notFound(rec, r, problem.New(problem.RouteNotFound)) // the router would redirect it
			return
		}
		if _, pattern := k.mux.Handler(r); pattern == "" {
			k.unrouted(rec, r)
			return
		}
		k.mux.ServeHTTP(rec, r)
	})
}

// clean reports whether a path has no empty elements and no elements . and ...
func clean(p string) bool {
	c := path.Clean(p)
	return strings.HasPrefix(p, "/") && (p == c || c != "/" && p == c+"/")
}

// clientGone is the status in the log and the metrics for a client that closed its connection before the response.
const clientGone = 499

// finish ends a request: it responds with 500 after a panic, and updates the log and the metrics.
func (k *Kit) finish(ctx context.Context, w *recorder, r *http.Request, started time.Time, panicked any) {
	c := callOf(ctx)
	if panicked != nil {
		k.recovered(ctx, w, panicked)
	}
	if ctx.Err() != nil {
		w.status = clientGone
	}
	took := k.Clock.Now().Sub(started)
	if k.Observe != nil {
		k.Observe(Result{c.operation, w.status, c.code, took})
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("operation", c.operation), slog.Int("status", w.status),
		slog.Float64("took", milliseconds(took)), slog.String("client", c.client.String()),
	}
	if c.code != "" {
		attrs = append(attrs, slog.String("code", string(c.code)))
	}
	k.Logger.LogAttrs(ctx, levelOf(w.status, c.code), "request", attrs...)
}

// levelOf returns the level at which a request is logged. Operators want to see rejected sign-ins and exceeded limits, but not each call.
func levelOf(status int, code problem.Code) slog.Level {
	switch {
	case status >= 500:
		return slog.LevelWarn
	case status == http.StatusTooManyRequests, code == problem.AuthInvalidCredentials, code == problem.AuthTOTPRequired:
		return slog.LevelInfo
	default:
		return slog.LevelDebug
	}
}

// milliseconds returns a duration in milliseconds with three decimals.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// recovered responds with 500 for a handler that panicked. If the response had begun, it aborts the connection.
func (k *Kit) recovered(ctx context.Context, w *recorder, panicked any) {
	if panicked == http.ErrAbortHandler { //nolint:errorlint // a sentinel that net/http compares like this
		panic(panicked)
	}
	if err, ok := panicked.(error); ok && w.status != 0 {
		if _, network := errors.AsType[net.Error](err); network { // the library panics when writing the response fails
			k.Logger.LogAttrs(ctx, slog.LevelDebug, "writing the answer failed", slog.String("operation", callOf(ctx).operation), slog.Any("error", err))
			panic(http.ErrAbortHandler)
		}
	}
	k.Logger.LogAttrs(ctx, slog.LevelError, "call panicked", slog.String("operation", callOf(ctx).operation),
		slog.Any("panic", panicked), slog.String("stack", string(debug.Stack())))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	k.respond(ctx, w, problem.New(problem.ServerInternal))
}

// unrouted responds to a request that matches no operation: an unknown path, or a wrong method.
func (k *Kit) unrouted(w http.ResponseWriter, r *http.Request) {
	probe := &probe{header: http.Header{}}
	k.mux.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", probe.header.Get("Allow"))
		k.respond(r.Context(), w, problem.Detailf(problem.RouteMethod, "this path takes %s", probe.header.Get("Allow")))
		return
	}
	k.notFound(w, r, problem.Detailf(problem.RouteNotFound, "the interface is described at %s/docs", k.BaseURL))
}

// preflight responds to a CORS preflight, and sets the CORS fields of other responses. Any origin may call, since no cookies
// are used.
func (k *Kit) preflight(w http.ResponseWriter, r *http.Request) (done bool) {
	if !strings.HasPrefix(r.URL.Path, k.BasePath+"/") {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "Retry-After, RateLimit, RateLimit-Policy, Traceparent, Content-Disposition, WWW-Authenticate")
	if r.Method != http.MethodOptions {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Idempotency-Key, Last-Event-ID, Traceparent, X-Api-Key")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// recorder records the status, and sets the header fields that every response has.
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
			h.Set("Cache-Control", "no-store") // responses contain mail and tokens
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

// writeWhole announces that the next call of Write passes the whole body, so that its length can be sent in the header.
func (r *recorder) writeWhole() {
	if c, ok := r.ResponseWriter.(*compressor); ok {
		c.whole = true
	}
}

// challenge adds to a 401 how to authenticate (RFC 9110 §11.6.1).
func challenge(h http.Header, status int) {
	if status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", "Bearer")
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// probe is a ResponseWriter that keeps only the header and the status.
type probe struct {
	header http.Header
	status int
}

// Header is the response's header.
func (p *probe) Header() http.Header { return p.header }

// WriteHeader records the status.
func (p *probe) WriteHeader(status int) { p.status = status }

// Write drops the body.
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
