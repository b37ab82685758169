package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
)

// HandlerOptions are the dependencies and settings of a Handler. All are required.
type HandlerOptions struct {
	API     http.Handler // the HTTP API, which carries out the tools' calls with the caller's address and credential
	Memory  *budget.Budget
	Owner   func(*http.Request) string // returns the client's address, whose share of the memory budget is charged
	Clock   clock.Clock
	BaseURL string
	Version string
}

// bodyMax is the largest request body, in octets.
const bodyMax = 64 << 10

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
	server, waits := newServer(Options{API: localAPI{h.API}, Clock: h.Clock, Version: h.Version})
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
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
	if err != nil {
		http.Error(w, "the body has more than 65536 bytes, or broke off", http.StatusRequestEntityTooLarge)
		return
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		http.Error(w, "send one message at a time, not a batch", http.StatusBadRequest)
		return
	}
	c := &exchange{request: r, writer: w, memory: h.Memory, owner: h.Owner(r)}
	defer c.release()
	ctx := context.WithValue(r.Context(), exchangeKey{}, c)
	m := parseMessage(body)
	handler := h.json
	if m.wantsProgress() && acceptsStream(r.Header) {
		handler = h.stream
	} else if hasValidHeader(r.Header) {
		c.result = h.wait(ctx, m)
	}
	if ctx.Err() != nil {
		return // the client has disconnected
	}
	r = r.WithContext(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header = r.Header.Clone()
	r.Header.Set("Accept", "application/json, text/event-stream") // the library requires both, although it responds with one of them
	handler.ServeHTTP(w, r)
}

// wait runs a call of a tool that waits for mail and returns its result; it returns nil for every other message. The
// library is called only afterwards, because it handles each request with a session of its own, which has two goroutines
// and tens of KiB of buffers. This way they exist only while the response is written, and not during a wait of up to a
// minute (TestWaitsCostWhatLongPollsDo).
func (h *Handler) wait(ctx context.Context, m rpcMessage) *sdk.CallToolResult {
	run := h.waits[m.Params.Name]
	if !m.isToolCall() || run == nil {
		return nil
	}
	// The progress token is left out, since a response in JSON cannot report progress.
	result, err := run(ctx, &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: m.Params.Name, Arguments: m.Params.Arguments}})
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

// isAllowedOrigin reports whether a request comes from a page of this service, or not from a page at all. A service whose
// base_url is on a loopback address accepts every loopback name with the same port.
func (h *Handler) isAllowedOrigin(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	u, err := url.Parse(values[0])
	if len(values) > 1 || err != nil || u.Scheme == "" || u.Host == "" {
		return false // also for the origin "null"
	}
	if strings.EqualFold(u.Scheme, h.origin.Scheme) && strings.EqualFold(u.Host, h.origin.Host) {
		return true
	}
	return isLoopback(h.origin.Hostname()) && isLoopback(u.Hostname()) && u.Port() == h.origin.Port() && u.Scheme == h.origin.Scheme
}

// isLoopback reports whether a host is localhost or a loopback address.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// rpcMessage has the fields of a JSON-RPC message that are needed before the library parses it.
type rpcMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Arguments json.RawMessage
		Meta      struct{ ProgressToken any } `json:"_meta"`
	}
}

// parseMessage parses a JSON-RPC message. It returns the zero rpcMessage for a malformed one, which the library reports.
func parseMessage(body []byte) (m rpcMessage) {
	if json.Unmarshal(body, &m) != nil {
		return rpcMessage{}
	}
	return m
}

// isToolCall reports whether a message is a call of a tool that expects a response.
func (m *rpcMessage) isToolCall() bool {
	return m.Method == "tools/call" && len(m.ID) > 0 && string(m.ID) != "null"
}

// wantsProgress reports whether a message is a call of a tool with a progress token.
func (m *rpcMessage) wantsProgress() bool {
	return m.isToolCall() && m.Params.Meta.ProgressToken != nil
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
// allowed networks of keys apply. Errors: that of ctx; server.unavailable, if the memory budget does not allow the
// response.
func (l localAPI) Do(ctx context.Context, q Request) (*Response, error) {
	c := exchangeOf(ctx)
	r, err := newRequest(ctx, "http://"+c.request.Host+"/api/v1", q)
	if err != nil {
		return nil, invalidArguments("an argument cannot be a part of a URL.")
	}
	r.RemoteAddr, r.Host, r.RequestURI = c.request.RemoteAddr, c.request.Host, r.URL.RequestURI()
	r.Header["X-Forwarded-For"] = c.request.Header.Values("X-Forwarded-For")
	rec := &recorder{exchange: c, header: make(http.Header)}
	l.api.ServeHTTP(rec, r)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case rec.exhausted:
		return nil, newFailure("server.unavailable")
	}
	return &Response{Status: rec.status, RetryAfter: rec.header.Get("Retry-After"), Body: rec.body.Bytes()}, nil
}

// recorder is the http.ResponseWriter of a call to the API. It buffers the response. For a body of more than unleasedMax
// octets it leases memory from the budget, including that for the copies in the result, until exchange.release.
type recorder struct {
	*exchange
	header    http.Header
	status    int
	body      bytes.Buffer
	leased    int  // octets of the body that are covered by leases
	exhausted bool // the budget refused a lease
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

// Write buffers a part of the body. Each lease doubles the leased memory, so that a response that is written in many
// parts needs few leases.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if n := r.body.Len() + len(p); n > unleasedMax && n > r.leased {
		more := max(n, 2*r.leased) - r.leased
		lease := r.memory.TryAcquire(budget.Response, r.owner, int64(more)*resultCost)
		if lease == nil {
			r.exhausted = true
			return 0, io.ErrShortWrite
		}
		r.leases, r.leased = append(r.leases, lease), r.leased+more
	}
	return r.body.Write(p)
}

// SetWriteDeadline sets the write deadline of the client's connection. http.ResponseController calls it.
func (r *recorder) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(r.writer).SetWriteDeadline(t)
}
