// Package mailpit serves the HTTP APIs of Mailpit and MailHog over the mail of the sink, for the plug-ins of test tools
// (docs/spec/mailpit.md). It asks for no credentials, so it serves only clients on loopback and private networks.
//
// Lists and searches come from package sink, contents from package message; POST /api/v1/send delivers through package
// inbound, as the SMTP server does. The forms are those of the two programs: names and types of members, texts such as
// "ok", statuses. Members that Gonebox has nothing for are empty. Event streams are WebSockets that poll the sink for
// changes.
//
// A page on another site could make a browser on this machine call the API. So requests under public host names are
// refused (DNS rebinding), and those that change something or open a stream from other sites; contents of mails are
// sent with a policy that forbids scripts. Each answer that depends on the size of a mail reserves its memory first.
package mailpit

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sink"
)

// Parts are the dependencies and settings of an API. All are required except Ready.
type Parts struct {
	HTTP     httpkit.Config // Unlimited reports which clients are served
	Mails    *sink.Service
	Messages *message.Service
	Inbound  *inbound.Service
	SendMax  int64       // octets of a message that is sent
	Hostname string      // of this server, for the Message-ID of a message that is sent
	Names    bool        // check the Host field: serve only an address or a private name, see isPrivateHost
	Ready    func() bool // whether the service can work
}

// API is both APIs. It is safe for concurrent use. Close ends its event streams.
type API struct {
	Parts
	kit *httpkit.Kit
	// stopping is closed by Close.
	stopping chan struct{}
	streams  streams
}

// New returns an API. The caller calls Close before it shuts the HTTP server down.
func New(p Parts) *API {
	p.HTTP.API = httpkit.API{Title: "Mailpit"}
	return &API{Parts: p, kit: httpkit.New(p.HTTP), stopping: make(chan struct{})}
}

// Handler returns the handler of all paths.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range a.routes() {
		mux.HandleFunc(pattern, serve)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusNotFound, "not found") })
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reason := a.refuses(r); reason != "" {
			fail(w, http.StatusForbidden, reason)
			return
		}
		mux.ServeHTTP(w, r)
	})
	return a.kit.Plain(guarded, func(r *http.Request) string {
		_, pattern := mux.Handler(r)
		if _, path, ok := strings.Cut(pattern, " "); ok && path != "" {
			return "mailpit " + pattern
		}
		return ""
	})
}

// routes returns the handlers by the patterns of http.ServeMux.
func (a *API) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /{$}":                                   home,
		"GET /livez":                                 a.probe,
		"GET /readyz":                                a.probe,
		"GET /api/v1/info":                           a.info,
		"GET /api/v1/tags":                           func(w http.ResponseWriter, _ *http.Request) { answer(w, []string{}) },
		"GET /api/v1/messages":                       a.list,
		"PUT /api/v1/messages":                       a.mark,
		http.MethodDelete + " /api/v1/messages":      a.remove,
		"GET /api/v1/search":                         a.search,
		http.MethodDelete + " /api/v1/search":        a.removeMatching,
		"GET /api/v1/message/{id}":                   a.message,
		"GET /api/v1/message/{id}/headers":           a.headers,
		"GET /api/v1/message/{id}/raw":               a.raw,
		"GET /api/v1/message/{id}/part/{part}":       a.part,
		"GET /api/v1/message/{id}/part/{part}/thumb": a.thumbnail,
		"POST /api/v1/send":                          a.send,
		"GET /api/events":                            a.events,
		"GET /view/{name}":                           a.view,
		"GET /api/v2/messages":                       a.hogList,
		"GET /api/v2/search":                         a.hogSearch,
		"GET /api/v1/messages/{id}":                  a.hogMessage,
		http.MethodDelete + " /api/v1/messages/{id}": a.hogDelete,
	}
}

// refuses returns the reason why a request is not served, or "" if it is.
func (a *API) refuses(r *http.Request) string {
	switch {
	case !httpkit.Unlimited(r.Context()):
		return "this API serves only clients on loopback and private networks"
	case a.Names && !isPrivateHost(r.Host):
		return "this API is not served under a public name"
	case r.Header.Get("Sec-Fetch-Site") == "cross-site" && (r.Method != http.MethodGet || r.Header.Get("Upgrade") != ""):
		return "web pages of other sites may not change anything here"
	}
	return ""
}

// isPrivateHost reports whether a Host field names an address or a name that public DNS does not have, so that a web
// page cannot read mail by making its own name resolve to this machine (DNS rebinding). The list is of domains that are
// reserved (RFC 6761, RFC 6762) or commonly used in private networks.
func isPrivateHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return true
	}
	switch host[strings.LastIndexByte(host, '.')+1:] {
	case "localhost", "local", "internal", "test", "lan", "home", "arpa", "docker", "localdomain", "intranet", "corp", "private":
		return true
	}
	return false
}

// Close ends the event streams, and refuses new ones. It returns when their goroutines have ended. It may be called
// more than once.
func (a *API) Close() { a.streams.close(a.stopping) }

// probe answers /livez, which succeeds while the process answers, and /readyz.
func (a *API) probe(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/readyz" && a.Ready != nil && !a.Ready() {
		fail(w, http.StatusServiceUnavailable, "not ready")
		return
	}
	ok(w)
}

// home answers at the root, which test tools such as Testcontainers poll to find out whether the service has started.
func home(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte("<!doctype html><title>Gonebox</title><p>The APIs of Mailpit and MailHog, served by Gonebox.</p>\n"))
}

// ok answers as Mailpit does to a successful call without a result.
func ok(w http.ResponseWriter) { text(w, http.StatusOK, "ok") }

// text writes a plain text.
func text(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) //nolint:gosec // text/plain, which no browser renders
}

// fail writes a reason as plain text, which is how Mailpit answers with errors.
func fail(w http.ResponseWriter, status int, reason string) { text(w, status, reason+"\n") }

// failed answers with the status and the text of an error. Several wrong fields are reduced to the last one. The codes
// of problems are not shown.
func (a *API) failed(w http.ResponseWriter, r *http.Request, err error) {
	p := a.kit.ProblemOf(r.Context(), err)
	status, reason := p.Status(), p.Title()
	if p.Detail != "" {
		reason = p.Detail
	}
	for _, f := range p.Fields {
		reason = strings.TrimLeft(f.Pointer, "/?") + " " + f.Message
	}
	switch p.Code {
	case problem.RequestInvalid:
		status = http.StatusBadRequest
	case problem.MessageRawExpired, problem.AttachmentNotRetained:
		status = http.StatusNotFound
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	fail(w, status, reason)
}

// answer writes JSON. HTML is not escaped, as in Mailpit: clients compare texts.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // fails only where the client is gone
}

// window returns start and limit of a list. A limit above sink.PageMax is lowered, not refused. Error: request.invalid.
func window(q url.Values) (start, limit int, err error) {
	const limitDefault = 50
	if start, err = number(q, "start", 0); err != nil {
		return 0, 0, err
	}
	if limit, err = number(q, "limit", limitDefault); err != nil {
		return 0, 0, err
	}
	return start, min(limit, sink.PageMax), nil
}

// number returns a query parameter that is a whole number from 0 to 2^31-1, or otherwise if it is missing. Error:
// request.invalid.
func number(q url.Values, name string, otherwise int) (int, error) {
	if q.Get(name) == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseUint(q.Get(name), 10, 31)
	if err != nil {
		return 0, problem.Invalid("?"+name, "must be a whole number that is not negative")
	}
	return int(n), nil
}

// mailOf returns the mail of the path, and the message with its content. name is an identifier or "latest". Error:
// message.not_found.
func (a *API) mailOf(r *http.Request, name string) (*sink.Mail, message.Ref, error) {
	m, err := a.Mails.Get(r.Context(), name)
	if err != nil {
		return nil, message.Ref{}, err
	}
	ref, err := a.Mails.Content(r.Context(), m.ID)
	return m, ref, err
}

// parseIDs returns the texts that are identifiers. The others cannot name a message and are dropped.
func parseIDs(texts []string) (ids []id.SinkMail) {
	for _, t := range texts {
		if mail, err := id.Parse[id.SinkMail](t); err == nil {
			ids = append(ids, mail)
		}
	}
	return ids
}
