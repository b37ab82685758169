// Package mailtm serves the HTTP API of mail.tm over mailboxes with a password, for its clients in many languages
// (docs/spec/mailtm.md).
//
// What mail.tm calls an account is a mailbox of Gonebox with a password, and its token is a mailbox token. Each file
// has the handlers of one group: accounts and tokens, messages, events. Handlers return errors; respondError translates
// them into the bodies and statuses that clients of mail.tm expect, which differ from those of the API in package httpapi.
// Resources are sent as JSON-LD or, to clients that ask for application/json, as plain JSON.
//
// The package keeps no state of its own. Rate limits, the memory budget, CORS and the log come from package httpkit. A
// mailbox lives for Parts.TTL after its last use.
package mailtm

import (
	"net/http"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Parts are the dependencies and settings of an API. All are required except GuestsOff.
type Parts struct {
	HTTP      httpkit.Config
	Domains   *domain.Service
	Mailboxes *mailbox.Service
	Messages  *message.Service
	Accounts  *account.Service // hashes the passwords
	Follow    *follow.Service
	TTL       time.Duration   // the lifetime of an account after its last use
	Limit     ratelimit.Limit // for the calls from one client address
	GuestsOff bool            // access.guests is off: no accounts can be created

	// CheckHost returns an error for a request by a name that may not be used. Pages of any origin may call the API, since it
	// asks for a token, but a page that makes its own name resolve here could create accounts from its visitors' addresses.
	CheckHost func(*http.Request) error
}

// API serves the operations of mail.tm. It is safe for concurrent use.
type API struct {
	Parts
	kit     *httpkit.Kit
	started time.Time // shown as the creation time of domains, for which none is stored
}

// New returns an API. It starts no goroutine.
func New(p Parts) *API {
	p.HTTP.API = httpkit.API{Title: "mail.tm"}
	return &API{Parts: p, kit: httpkit.New(p.HTTP), started: p.HTTP.Clock.Now()}
}

// Handler returns the handler for all paths. Every request counts against the rate limit of its client address, even if
// its path is unknown. Only CORS preflight requests do not count.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range a.routes() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := serve(w, r); err != nil {
				a.respondError(w, r, err)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { writeError(w, r, http.StatusNotFound, "Not Found") })
	limited := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.CheckHost(r); err != nil {
			a.respondError(w, r, err)
			return
		}
		if a.kit.CORS(w, r) {
			return
		}
		d := a.kit.Count(r.Context(), ratelimit.MailTM, httpkit.AddrIdentity(r.Context()), a.Limit)
		httpkit.ShowLimit(r.Context(), d)
		if !d.OK {
			a.respondError(w, r, d.Problem())
			return
		}
		mux.ServeHTTP(w, r)
	})
	return a.kit.Plain(limited, func(r *http.Request) string {
		_, pattern := mux.Handler(r)
		if _, path, ok := strings.Cut(pattern, " "); ok && path != "" {
			return "mailtm " + pattern
		}
		return ""
	})
}

// handler serves a request, or returns an error before it has written anything. Once it has begun to write the response
// it returns nil, or panics with http.ErrAbortHandler if it cannot complete the response.
type handler func(w http.ResponseWriter, r *http.Request) error

// routes returns the handlers. The keys are patterns of http.ServeMux.
func (a *API) routes() map[string]handler {
	return map[string]handler{
		"GET /domains":                               a.listDomains,
		"GET /domains/{id}":                          a.getDomain,
		"POST /accounts":                             a.createAccount,
		"GET /accounts/{id}":                         a.requireToken(a.getAccount),
		http.MethodDelete + " /accounts/{id}":        a.requireToken(a.deleteAccount),
		"GET /me":                                    a.requireToken(a.me),
		"POST /token":                                a.createToken,
		"GET /messages":                              a.requireToken(a.listMessages),
		"GET /messages/{id}":                         a.requireToken(a.getMessage),
		"PATCH /messages/{id}":                       a.requireToken(a.markMessage),
		http.MethodDelete + " /messages/{id}":        a.requireToken(a.deleteMessage),
		"GET /messages/{id}/download":                a.requireToken(a.download),
		"GET /messages/{id}/attachment/{attachment}": a.requireToken(a.attachment),
		"GET /sources/{id}":                          a.requireToken(a.source),
		"GET /.well-known/mercure":                   a.requireToken(a.events),
	}
}

// requireToken returns a handler that calls serve with the mailbox whose token the request has. Unless it is a
// DELETE, the call extends the life of a mailbox that has a password to TTL from now. Errors: auth.required,
// auth.invalid_token, mailbox.expired, and those of serve.
func (a *API) requireToken(serve func(w http.ResponseWriter, r *http.Request, m *mailbox.Mailbox) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
		if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
			return problem.New(problem.AuthRequired)
		}
		claims, err := a.Mailboxes.Claims(token)
		if err == nil && claims.Developer != "" { // this API does not check developer keys, so it cannot accept a token that depends on one
			err = problem.New(problem.AuthInvalidToken)
		}
		if err != nil {
			return err
		}
		m, err := a.Mailboxes.Open(r.Context(), claims)
		if err != nil {
			return err
		}
		if r.Method != http.MethodDelete {
			if m, err = a.Mailboxes.Use(r.Context(), m, a.TTL); err != nil {
				return err
			}
		}
		return serve(w, r, m)
	}
}
