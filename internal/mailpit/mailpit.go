// Package mailpit serves the HTTP APIs of Mailpit and MailHog over the mail of the sink, for the plug-ins of test tools
// (docs/spec/mailpit.md). It asks for no credentials, so it serves only clients on loopback and private networks.
//
// Package sink lists and searches the mails, and package message has their contents. POST /api/v1/send delivers through
// package inbound, as the SMTP server does. Requests and responses have the format of the two programs: names and types of
// members, texts such as "ok", statuses. Members for which Gonebox has no value are empty. Event streams are WebSockets;
// they poll the sink for changes.
//
// A web page of another site could make a browser on this machine call the API. Therefore the API rejects requests that
// use a public host name (DNS rebinding), and cross-site requests that change something or open a stream. It sends the
// contents of mails with a Content-Security-Policy that forbids scripts. Before it builds a response whose size depends on
// a mail, it reserves the memory.
package mailpit

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

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
	SendMax  int64       // the most octets of a message that POST /api/v1/send delivers
	Hostname string      // of this server, for the Message-ID of such a message
	Names    bool        // check the Host field: reject requests whose host is not private, see isPrivateHost
	Ready    func() bool // reports whether the service is ready; nil: always
}

// API serves both APIs. It is safe for concurrent use. Close ends its event streams.
type API struct {
	Parts
	kit      *httpkit.Kit
	stopping chan struct{} // closed by Close; ends the event streams
	streams  streams
}

// New returns an API. It starts no goroutine. The caller must call Close before it shuts the HTTP server down.
func New(p Parts) *API {
	p.HTTP.API = httpkit.API{Title: "Mailpit"}
	return &API{Parts: p, kit: httpkit.New(p.HTTP), stopping: make(chan struct{})}
}

// Handler returns the handler for all paths.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range a.routes() {
		mux.HandleFunc(pattern, serve)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { writeError(w, http.StatusNotFound, "not found") })
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reason := a.rejection(r); reason != "" {
			writeError(w, http.StatusForbidden, reason)
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

// routes returns the handlers. The keys are patterns of http.ServeMux.
func (a *API) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /{$}":                                   home,
		"GET /livez":                                 a.probe,
		"GET /readyz":                                a.probe,
		"GET /api/v1/info":                           a.info,
		"GET /api/v1/tags":                           func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, []string{}) },
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

// rejection returns the reason why a request is rejected, or "" if it is served.
func (a *API) rejection(r *http.Request) string {
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

// isPrivateHost reports whether a Host field is an IP address or a name that does not exist in public DNS. A web page could
// otherwise read mail by making its own name resolve to this machine (DNS rebinding). The top-level domains in the list are
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

// Close ends the event streams and rejects new ones. It returns when the goroutines of all streams have ended. It may be
// called more than once.
func (a *API) Close() { a.streams.close(a.stopping) }

// probe serves /livez, which always succeeds, and /readyz, which succeeds if the service is ready.
func (a *API) probe(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/readyz" && a.Ready != nil && !a.Ready() {
		writeError(w, http.StatusServiceUnavailable, "not ready")
		return
	}
	writeOK(w)
}

// home serves the root path. Test tools such as Testcontainers poll it to find out whether the service has started.
func home(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte("<!doctype html><title>Gonebox</title><p>The APIs of Mailpit and MailHog, served by Gonebox.</p>\n"))
}

// writeOK writes the response of Mailpit to a successful call that has no result.
func writeOK(w http.ResponseWriter) { writeText(w, http.StatusOK, "ok") }

// writeText writes a response of plain text.
func writeText(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) //nolint:gosec // text/plain, which no browser renders
}

// writeError writes the reason of an error as plain text, as Mailpit does.
func writeError(w http.ResponseWriter, status int, reason string) { writeText(w, status, reason+"\n") }

// respondError responds with the status and the text of an error that a handler met. If several fields are invalid, the text
// names only the last one. It does not contain the code of a problem.
func (a *API) respondError(w http.ResponseWriter, r *http.Request, err error) {
	p := a.kit.ProblemOf(r.Context(), err)
	status, reason := p.Status(), p.Reason()
	switch p.Code {
	case problem.RequestInvalid:
		status = http.StatusBadRequest
	case problem.MessageRawExpired, problem.AttachmentNotRetained:
		status = http.StatusNotFound
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", httpkit.RetryAfter(p.RetryAfter))
	}
	writeError(w, status, reason)
}

// writeJSON writes a value as JSON. Like Mailpit, it does not escape HTML, since clients compare texts.
func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // fails only if the client has disconnected
}

// parsePaging parses the parameters start and limit of a list. A limit above sink.PageMax is lowered to it. Error:
// request.invalid.
func parsePaging(q url.Values) (start, limit int, err error) {
	const defaultLimit = 50
	if start, err = parseNumber(q, "start", 0); err != nil {
		return 0, 0, err
	}
	if limit, err = parseNumber(q, "limit", defaultLimit); err != nil {
		return 0, 0, err
	}
	return start, min(limit, sink.PageMax), nil
}

// parseNumber parses a query parameter that is a whole number from 0 to 2^31-1. It returns fallback if the parameter is
// missing. Error: request.invalid.
func parseNumber(q url.Values, name string, fallback int) (int, error) {
	if q.Get(name) == "" {
		return fallback, nil
	}
	n, err := strconv.ParseUint(q.Get(name), 10, 31)
	if err != nil {
		return 0, problem.Invalid("?"+name, "must be a whole number that is not negative")
	}
	return int(n), nil
}

// findMail returns a mail and the message that has its content. name is the identifier of the mail, or "latest" for the
// newest one. Error: message.not_found.
func (a *API) findMail(r *http.Request, name string) (*sink.Mail, message.Ref, error) {
	m, err := a.Mails.Get(r.Context(), name)
	if err != nil {
		return nil, message.Ref{}, err
	}
	ref, err := a.Mails.Content(r.Context(), m.ID)
	return m, ref, err
}

// parseIDs returns the identifiers among texts. It drops all other texts, since they cannot name a message.
func parseIDs(texts []string) (ids []id.SinkMail) {
	for _, t := range texts {
		if mail, err := id.Parse[id.SinkMail](t); err == nil {
			ids = append(ids, mail)
		}
	}
	return ids
}
