package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/apiclient"
	"github.com/gonebox/gonebox/internal/body"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/local"
)

// HandlerOptions are the dependencies and settings of a Handler. All but CheckDev are required.
type HandlerOptions struct {
	API     http.Handler // the HTTP API, which carries out the tools' calls with the caller's address and credential
	Memory  *budget.Budget
	Owner   func(*http.Request) string // returns the client's address, whose share of the memory budget is charged
	Local   *local.Rules               // decides which requests are local
	Clock   clock.Clock
	BaseURL string
	Version string

	CheckDev func(*http.Request) error // see Options
}

// Bounds of a request body.
const (
	bodyMax       = 64 << 10 // octets
	bodyTokensMax = 4096     // names, values and brackets; no tool has as many as a hundred
)

// Handler serves POST /mcp without sessions, so that any process behind a load balancer can serve any request. The
// response is JSON, or an event stream for a call that asks for progress. It is safe for concurrent use.
type Handler struct {
	HandlerOptions
	origin       *url.URL                   // of BaseURL
	json, stream http.Handler               // the library's handlers, by the form of the response
	waits        map[string]sdk.ToolHandler // the tools that wait for mail, by name
}

// NewHandler returns a Handler. All requests share one server of the library, which has no state of clients.
func NewHandler(h HandlerOptions) *Handler {
	origin, err := url.Parse(h.BaseURL)
	if err != nil {
		origin = new(url.URL) // does not happen: the configuration has checked the URL
	}
	server, waits := newServer(Options{API: localAPI{h.API}, Clock: h.Clock, Version: h.Version, CheckDev: h.CheckDev})
	get := func(*http.Request) *sdk.Server { return server }
	// The origin is checked here. The host is not: behind a proxy on the same machine it is the public one.
	options := sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: bodyMax}
	streaming := options
	streaming.JSONResponse = false
	return &Handler{h, origin, sdk.NewStreamableHTTPHandler(get, &options), sdk.NewStreamableHTTPHandler(get, &streaming), waits}
}

// ServeHTTP serves a request to /mcp.
//
// It reads the body before the library does, since the method and the tool decide whether the response is JSON or a
// stream. It rejects requests from web pages of another origin, as the protocol demands: otherwise any page that a user
// visits could use the browser to call a service in the user's network.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.isAllowedOrigin(r) {
		http.Error(w, "Forbidden: a page of another origin may not call this", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Method Not Allowed: send POST", http.StatusMethodNotAllowed)
		return
	}
	c := &exchange{request: r, writer: w, memory: h.Memory, owner: h.Owner(r)}
	defer c.release()
	message, ok := c.readBody()
	if !ok {
		return
	}
	m, invalid := parseMessage(message)
	if invalid != nil {
		writeError(w, http.StatusBadRequest, m, invalid)
		return
	}
	ctx := context.WithValue(r.Context(), exchangeKey{}, c)
	handler := h.json
	if m.wantsProgress() && acceptsStream(r.Header) {
		handler = h.stream
	} else if hasValidHeader(r.Header) {
		c.result = h.wait(ctx, m)
	}
	if ctx.Err() != nil {
		return // the client has disconnected
	}
	library := m.forLibrary()
	r = r.WithContext(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(library)), int64(len(library))
	r.Header = r.Header.Clone()
	r.Header.Set("Accept", "application/json, text/event-stream") // the library requires both, although it responds with one of them
	handler.ServeHTTP(&reply{ResponseWriter: w, message: m}, r)
}

// wait runs a call of a tool that waits for mail and returns its result; it returns nil for every other message. The
// library is called only afterwards, because it handles each request with a session of its own, which has two goroutines
// and tens of KiB of buffers. This way they exist only while the response is written, and not during a wait of up to a
// minute (TestWaitsCostWhatLongPollsDo).
func (h *Handler) wait(ctx context.Context, m *message) *sdk.CallToolResult {
	name := m.tool()
	run := h.waits[name]
	if run == nil {
		return nil
	}
	// The progress token is left out, since a response in JSON cannot report progress.
	result, err := run(ctx, &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: name, Arguments: m.params["arguments"]}})
	if err != nil {
		return nil // the library calls the tool again and responds with its error
	}
	return result
}

// hasValidHeader reports whether the library would accept the header of a request. Other requests go to the library at
// once, which responds with the error, so that a client does not wait for mail only to get an error.
func hasValidHeader(header http.Header) bool {
	version := header.Get("Mcp-Protocol-Version")
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && media == "application/json" && (version == "" || slices.Contains(sdk.SupportedProtocolVersions(), version))
}

// isAllowedOrigin reports whether a request comes from a page of this service, or not from a page at all, or is local.
func (h *Handler) isAllowedOrigin(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 || len(values) == 1 && strings.EqualFold(values[0], h.origin.Scheme+"://"+h.origin.Host) {
		return true
	}
	return h.Local.Check(r) == nil // not for the origin "null"
}

// acceptsStream reports whether a client can read an event stream.
func acceptsStream(h http.Header) bool {
	for value := range strings.SplitSeq(strings.Join(h.Values("Accept"), ","), ",") {
		if media, _, err := mime.ParseMediaType(value); err == nil && media == "text/event-stream" {
			return true
		}
	}
	return false
}

// exchange is a request to /mcp, which the context of the called tool contains. The library calls the tool on another
// goroutine while the goroutine of the request waits, so only one of them uses the exchange at a time.
type exchange struct {
	request *http.Request
	writer  http.ResponseWriter
	memory  *budget.Budget
	owner   string
	leases  []*budget.Lease     // the memory of API responses
	result  *sdk.CallToolResult // of Handler.wait; nil: the tool has not been called yet
}

// readBody reads the body of the request. If it cannot, it responds with the reason and returns false.
func (c *exchange) readBody() ([]byte, bool) {
	const (
		decodingCost = 8 // octets of memory for each octet of a body while it is decoded
		waitingCost  = 2 // and afterwards, while the tool waits for mail
	)
	octets, lease, err := body.Read(c.request.Context(), c.request, body.Bounds{
		Octets: bodyMax, Tokens: bodyTokensMax, Cost: func(n int64) int64 { return n * decodingCost }, Lease: func(ctx context.Context, n int64) (*budget.Lease, error) { return c.lease(ctx, budget.Request, n) },
	})
	switch {
	case err == nil:
		lease.Shrink(lease.Size() - int64(len(octets))*waitingCost)
		c.leases = append(c.leases, lease)
		return octets, true
	case errors.Is(err, budget.ErrExhausted):
		c.writer.Header().Set("Retry-After", "5")
		http.Error(c.writer, "too much is in progress for the memory of this server", http.StatusServiceUnavailable)
	case isTooComplex(err):
		writeError(c.writer, http.StatusBadRequest, &message{}, &rpcError{invalidRequest, err.Error()})
	default:
		http.Error(c.writer, "the body has more than 65536 bytes, or broke off", http.StatusRequestEntityTooLarge)
	}
	return nil, false
}

func isTooComplex(err error) bool {
	_, ok := errors.AsType[*body.TooComplexError](err)
	return ok
}

// lease leases memory for the exchange. If it is not free, lease waits, as other calls of the service do.
func (c *exchange) lease(ctx context.Context, k budget.Kind, n int64) (*budget.Lease, error) {
	const longest = 5 * time.Second
	if l := c.memory.TryAcquire(k, c.owner, n); l != nil {
		return l, nil
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	return c.memory.Acquire(ctx, k, c.owner, n)
}

// exchangeKey is the key of the exchange in a context.
type exchangeKey struct{}

// exchangeOf returns the exchange in a context, or nil if there is none, as over stdio.
func exchangeOf(ctx context.Context) *exchange {
	c, _ := ctx.Value(exchangeKey{}).(*exchange)
	return c
}

// release releases the memory of all API responses. It is called when the response to the request has been written.
func (c *exchange) release() {
	for _, l := range c.leases {
		l.Release()
	}
}

// credentialOf returns the credential of the client that called a tool, or "" if there is none. Over stdio it is the
// configured one.
func (t *toolset) credentialOf(ctx context.Context) string {
	c := exchangeOf(ctx)
	if c == nil {
		return t.Credential
	}
	if kind, text, ok := strings.Cut(c.request.Header.Get("Authorization"), " "); ok && strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(text)
	}
	return c.request.Header.Get("X-Api-Key")
}

// untilDisconnected returns a context that also ends when the client of a request to /mcp disconnects, which the context
// that the library passes to tools does not.
func untilDisconnected(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c := exchangeOf(ctx)
	if c == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(c.request.Context(), cancel)
	return ctx, func() { stop(); cancel() }
}

// localAPI calls the HTTP API in the same process.
type localAPI struct{ api http.Handler }

// Do calls the handler with the address of the client that sent the request to /mcp, to which rate limits and the
// allowed networks of keys apply, and with all that decides whether the request is local. Errors: that of ctx;
// response.too_large, if the memory budget can never allow the response; server.unavailable, if it does not allow it now.
func (l localAPI) Do(ctx context.Context, q apiclient.Request) (*apiclient.Response, error) {
	c := exchangeOf(ctx)
	r, err := apiclient.NewRequest(ctx, "http://"+c.request.Host, q)
	if err != nil {
		return nil, invalidArguments("an argument cannot be a part of a URL.")
	}
	r.RemoteAddr, r.Host, r.RequestURI = c.request.RemoteAddr, c.request.Host, r.URL.RequestURI()
	r.Proto, r.ProtoMajor, r.ProtoMinor = c.request.Proto, c.request.ProtoMajor, c.request.ProtoMinor
	for _, name := range local.Fields() {
		if values := c.request.Header.Values(name); len(values) > 0 {
			r.Header[name] = values
		}
	}
	rec := &recorder{exchange: c, ctx: ctx, header: make(http.Header)}
	l.api.ServeHTTP(rec, r)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case rec.refused != nil:
		return nil, rec.refused
	}
	return &apiclient.Response{Status: rec.status, RetryAfter: rec.header.Get("Retry-After"), Body: rec.body.Bytes()}, nil
}

// recorder is the http.ResponseWriter of a call to the API. It buffers the response. For a body of more than unleasedMax
// octets it leases memory from the budget, including that for the copies in the result, until exchange.release.
type recorder struct {
	*exchange
	ctx     context.Context //nolint:containedctx // of the call; io.Writer has no other way to be given one
	header  http.Header
	status  int
	body    bytes.Buffer
	leased  int   // octets of the body that are covered by leases
	refused error // why a lease was refused: a *failure; nil: none was
}

const (
	// unleasedMax is the most octets of a body that need no lease. Most responses are smaller.
	unleasedMax = 64 << 10
	resultCost  = 8 // octets of memory for each octet of a response: its copies as base64, as a result, and as text in the result
)

// Header returns the header of the response.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader records the status of the first call.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write buffers a part of the body.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if n := r.body.Len() + len(p); n > unleasedMax && n > r.leased {
		if r.refused = r.leaseFor(n); r.refused != nil {
			return 0, io.ErrShortWrite
		}
	}
	return r.body.Write(p)
}

// leaseFor leases the memory for a body of which n octets are known. A body with a Content-Length, such as an attachment,
// gets all of its memory in one lease: the share of an address allows a single lease of any size, but not several large
// ones. The lease is waited for, as in other calls. For other bodies, which the API bounds, each lease doubles the leased
// memory, so that a response that is written in many parts needs few. Errors: response.too_large, server.unavailable.
func (r *recorder) leaseFor(n int) error {
	if length, err := strconv.Atoi(r.header.Get("Content-Length")); err == nil && length > n {
		n = length
	}
	if int64(n)*resultCost > r.memory.Most() {
		return tooLarge(n, r.memory.Most()/resultCost)
	}
	more := max(n, 2*r.leased) - r.leased
	lease, err := r.lease(r.ctx, budget.Response, int64(more)*resultCost)
	if err != nil {
		return newFailure("server.unavailable")
	}
	r.leases, r.leased = append(r.leases, lease), r.leased+more
	r.body.Grow(r.leased - r.body.Len())
	return nil
}

// SetWriteDeadline sets the write deadline of the client's connection. http.ResponseController calls it.
func (r *recorder) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(r.writer).SetWriteDeadline(t)
}
