// Package mailtm serves the HTTP API of mail.tm over mailboxes with a password, for its clients in many languages
// (docs/spec/mailtm.md).
//
// What mail.tm calls an account is a mailbox of Gonebox with a password, and its token is a mailbox token. Each file
// has the handlers of one group: accounts and tokens, messages, events. Handlers return errors; respondError turns them into
// the bodies and statuses that clients of mail.tm expect, which differ from those of the API in package httpapi.
// Resources come as JSON-LD or, for clients that ask for application/json, as plain JSON.
//
// The package has no state besides its dependencies. The limits, the memory budget, CORS and the log are those of
// package httpkit. A mailbox lives for Parts.TTL after its last use.
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
	TTL       time.Duration   // of an account after its last use
	Limit     ratelimit.Limit // of the calls from an address
	GuestsOff bool            // access.guests is off: no accounts can be created
}

// API serves the operations of mail.tm. It is safe for concurrent use. started is shown as the creation time of
// domains, which have none.
type API struct {
	Parts
	kit     *httpkit.Kit
	started time.Time
}

// New returns an API that was started now.
func New(p Parts) *API {
	p.HTTP.API = httpkit.API{Title: "mail.tm"}
	return &API{Parts: p, kit: httpkit.New(p.HTTP), started: p.HTTP.Clock.Now()}
}

// Handler returns the handler of all paths. Every call, of unknown paths too, counts against the limit of its address,
// except preflight requests of CORS.
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

// handler serves a request, or returns an error before it has answered. Once it has begun to answer it returns nil, or
// panics with http.ErrAbortHandler if the answer cannot be completed.
type handler func(w http.ResponseWriter, r *http.Request) error

// routes returns the handlers by the patterns of http.ServeMux.
func (a *API) routes() map[string]handler {
	return map[string]handler{
		"GET /domains":                               a.listDomains,
		"GET /domains/{id}":                          a.getDomain,
		"POST /accounts":                             a.createAccount,
		"GET /accounts/{id}":                         a.opened(a.getAccount),
		http.MethodDelete + " /accounts/{id}":        a.opened(a.deleteAccount),
		"GET /me":                                    a.opened(a.me),
		"POST /token":                                a.token,
		"GET /messages":                              a.opened(a.listMessages),
		"GET /messages/{id}":                         a.opened(a.getMessage),
		"PATCH /messages/{id}":                       a.opened(a.markMessage),
		http.MethodDelete + " /messages/{id}":        a.opened(a.deleteMessage),
		"GET /messages/{id}/download":                a.opened(a.download),
		"GET /messages/{id}/attachment/{attachment}": a.opened(a.attachment),
		"GET /sources/{id}":                          a.opened(a.source),
		"GET /.well-known/mercure":                   a.opened(a.events),
	}
}

// opened returns the handler of a call that needs a token. Each such call but DELETE extends the account's life to TTL
// from now. Errors: auth.required, auth.invalid_token, mailbox.expired, and those of serve.
func (a *API) opened(serve func(w http.ResponseWriter, r *http.Request, m *mailbox.Mailbox) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		scheme, credential, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
		if credential = strings.TrimSpace(credential); !strings.EqualFold(scheme, "Bearer") || credential == "" {
			return problem.New(problem.AuthRequired)
		}
		claims, err := a.Mailboxes.Claims(credential)
		if err == nil && claims.Developer != "" { // bound to a developer key, which this API does not check
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
