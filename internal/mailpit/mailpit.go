// Package mailpit serves the HTTP APIs of Mailpit and MailHog over the mail of the sink and of projects, for the plug-ins of test tools
// (docs/spec/mailpit.md). Unless it asks for the credentials of a project (project.go), it serves only local requests.
//
// Package sink lists and searches the mails, and package message has their contents. POST /api/v1/send delivers through
// package inbound, as the SMTP server does. Requests and responses have the format of the two programs: names and types of
// members, texts such as "ok", statuses. Members for which Gonebox has no value are empty. Event streams are WebSockets;
// one goroutine polls the sink for all of them.
//
// A web page of another site could make a browser on this machine call the API. Therefore the API serves local requests
// alone, as package local decides; other sites may link to its pages. It sends the contents of mails with a
// Content-Security-Policy that forbids scripts. Before it builds a response whose size depends on a mail, it reserves the
// memory.
package mailpit

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/mailcheck"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/release"
	"github.com/gonebox/gonebox/internal/sink"
)

// Parts are the dependencies and settings of an API. All are required except Ready.
type Parts struct {
	HTTP     httpkit.Config
	Local    *local.Rules // decides which requests are served
	Mails    *sink.Service
	Messages *message.Service
	Checks   *mailcheck.Checker
	Inbound  *inbound.Service
	Release  *release.Service
	Faults   Faults
	SendMax  int64    // the most octets of a message that POST /api/v1/send delivers
	Hostname string   // of this server, for the Message-ID of such a message
	Projects Projects // nil: there are none

	// ProjectsOptional serves all mail to requests that name no project, and projects without a password. Otherwise requests need the
	// credentials of a project.
	ProjectsOptional bool

	Ready func() bool // reports whether the service is ready; nil: always
}

// API serves both APIs. It is safe for concurrent use. Close ends its event streams.
type API struct {
	Parts
	kit      *httpkit.Kit
	stopping chan struct{} // closed by Close; ends the event streams
	streams  streams
	feeds    feeds // what the event streams send

	// thumbnails has an element while a thumbnail is made: one at a time, since decoding a picture takes much memory.
	thumbnails chan struct{}
}

// New returns an API. It starts no goroutine. The caller must call Close before it shuts the HTTP server down.
func New(p Parts) *API {
	p.HTTP.API = httpkit.API{Title: "Mailpit"}
	return &API{
		Parts: p, kit: httpkit.New(p.HTTP), stopping: make(chan struct{}), thumbnails: make(chan struct{}, 1),
		feeds: feeds{mails: p.Mails, memory: p.HTTP.Memory, version: version(p.HTTP.Version), byProject: make(map[id.Project]*feed)},
	}
}

// Handler returns the handler for all paths.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range a.routes() {
		mux.HandleFunc(pattern, serve)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { writeError(w, http.StatusNotFound, "not found") })
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Keeps pages of other sites from embedding a response, such as a picture of a mail. It matters where browsers send
		// no Sec-Fetch-Site: to http at addresses that are not loopback.
		w.Header().Set("Cross-Origin-Resource-Policy", "same-site")
		project, r := a.cutProject(r)
		if err := a.check(r); err != nil {
			a.respondError(w, r, err)
			return
		}
		if allowOrigin(w, r) {
			return
		}
		scoped, err := a.scoped(r, project)
		if err != nil {
			a.respondError(w, r, err)
			return
		}
		mux.ServeHTTP(w, scoped)
	})
	return a.kit.Plain(guarded, func(r *http.Request) string {
		_, r = a.cutProject(r)
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
		"GET /api/v1/webui":                          a.webUI,
		"GET /api/v1/messages":                       a.list,
		"PUT /api/v1/messages":                       a.mark,
		http.MethodDelete + " /api/v1/messages":      a.remove,
		"GET /api/v1/search":                         a.search,
		http.MethodDelete + " /api/v1/search":        a.removeMatching,
		"GET /api/v1/tags":                           a.tags,
		"PUT /api/v1/tags":                           a.setTags,
		"PUT /api/v1/tags/{tag}":                     a.renameTag,
		http.MethodDelete + " /api/v1/tags/{tag}":    a.deleteTag,
		"GET /api/v1/message/{id}":                   a.message,
		"GET /api/v1/message/{id}/headers":           a.headers,
		"GET /api/v1/message/{id}/raw":               a.raw,
		"POST /api/v1/message/{id}/release":          a.release,
		"GET /api/v1/message/{id}/html-check":        a.htmlCheck,
		"GET /api/v1/message/{id}/link-check":        a.linkCheck,
		"GET /api/v1/message/{id}/part/{part}":       a.part,
		"GET /api/v1/message/{id}/part/{part}/thumb": a.thumbnail,
		"GET /api/v1/chaos":                          a.getChaos,
		"PUT /api/v1/chaos":                          a.putChaos,
		"GET /api/v2/jim":                            a.getJim,
		"POST /api/v2/jim":                           a.createJim,
		"PUT /api/v2/jim":                            a.updateJim,
		http.MethodDelete + " /api/v2/jim":           a.deleteJim,
		"POST /api/v1/send":                          a.send,
		"GET /api/events":                            a.events,
		"GET /view/{name}":                           a.view,
		"GET /api/v2/messages":                       a.hogList,
		"GET /api/v2/search":                         a.hogSearch,
		"GET /api/v1/messages/{id}":                  a.hogMessage,
		"GET /api/v1/messages/{id}/download":         a.hogDownload,
		http.MethodDelete + " /api/v1/messages/{id}": a.hogDelete,
	}
}

// Check returns nil if a request is served: if it is local, or if a browser opens a page to which another site has linked. Errors:
// access.client_not_allowed, access.host_not_allowed, access.origin_not_allowed.
func (a *API) Check(r *http.Request) error {
	if isOperation(r) || !local.IsNavigation(r) {
		return a.Local.Check(r)
	}
	if err := a.Local.CheckClient(r); err != nil {
		return err
	}
	return a.Local.CheckHost(r)
}

// isOperation reports whether the path of a request is that of an operation, not of a page.
func isOperation(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// Close ends the event streams and rejects new ones. It returns when the goroutines of all streams have ended. It may be
// called more than once.
func (a *API) Close() {
	a.streams.close(a.stopping)
	a.feeds.running.Wait() // they end with their last streams
}

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
// names only the last one. It does not contain the code of a problem. A client of MailHog gets no text for a missing message.
func (a *API) respondError(w http.ResponseWriter, r *http.Request, err error) {
	p := a.kit.ProblemOf(r.Context(), err)
	status, reason := p.Status(), p.Reason()
	switch p.Code {
	case problem.RequestInvalid:
		status = http.StatusBadRequest
	case problem.MessageRawExpired, problem.AttachmentNotRetained:
		status = http.StatusNotFound
	case problem.AuthRequired, problem.AuthInvalidCredentials:
		w.Header().Set("WWW-Authenticate", `Basic realm="Gonebox", charset="UTF-8"`)
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", httpkit.RetryAfter(p.RetryAfter))
	}
	if status == http.StatusNotFound && wantsNoText(r) && strings.HasPrefix(r.URL.Path, "/api/v1/messages/") {
		w.WriteHeader(status)
		return
	}
	writeError(w, status, reason)
}

// wantsNoText reports whether a request to an operation of MailHog gets an empty body where there is no JSON to send: the clients
// of MailHog send no Accept, and parse any body as JSON.
func wantsNoText(r *http.Request) bool { return len(r.Header.Values("Accept")) == 0 }

// writeJSON writes a value as JSON. Like Mailpit, it does not escape HTML, since clients compare texts.
func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // fails only if the client has disconnected
}

// defaultLimit is how many messages a page has unless the parameter limit says otherwise.
const defaultLimit = 50

// parsePaging parses the parameters start and limit of a list. A limit above sink.PageMax is lowered to it. Error:
// request.invalid.
func parsePaging(q url.Values) (start, limit int, err error) {
	if start, err = parseNumber(q, "start", 0); err != nil {
		return 0, 0, err
	}
	if limit, err = parseNumber(q, "limit", defaultLimit); err != nil {
		return 0, 0, err
	}
	return start, min(limit, sink.PageMax), nil
}

// parseZone parses the parameter tz, which is the time zone of the times in other parameters. Error: request.invalid.
func parseZone(q url.Values) (*time.Location, error) {
	tz := q.Get("tz")
	if tz == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(tz)
	if err != nil {
		return nil, problem.Invalid("?tz", "is not a time zone such as Europe/Berlin")
	}
	return zone, nil
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
// newest one, or with the parameter query for the newest one that it matches. Errors: message.not_found, request.invalid.
func (a *API) findMail(r *http.Request, name string) (*sink.Mail, message.Ref, error) {
	var m *sink.Mail
	var err error
	if v := r.URL.Query(); name == "latest" && strings.TrimSpace(v.Get("query")) != "" {
		m, err = a.newestMatching(r.Context(), v)
	} else {
		m, err = a.Mails.Get(r.Context(), name)
	}
	if err != nil {
		return nil, message.Ref{}, err
	}
	ref, err := a.Mails.Content(r.Context(), m.ID)
	return m, ref, err
}

// newestMatching returns the newest mail that the parameter query matches. Errors: message.not_found, request.invalid.
func (a *API) newestMatching(ctx context.Context, v url.Values) (*sink.Mail, error) {
	q, err := parseQuery(v)
	if err != nil {
		return nil, err
	}
	p, err := a.Mails.Search(ctx, &q, 0, 1)
	if err != nil {
		return nil, err
	}
	if len(p.Mails) == 0 {
		return nil, problem.New(problem.MessageNotFound)
	}
	return &p.Mails[0], nil
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
