// Package httpapi is the HTTP interface: one file for each group of the specification with its operations on top. It
// decodes, calls a domain and encodes; it refuses to decide anything and to open a transaction.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
	"github.com/gonebox/gonebox/internal/webhook"
)

// BasePath begins every path of the interface (spec §9).
const BasePath = "/api/v1"

// Parts are what the interface is put together from.
type Parts struct {
	Clock         clock.Clock
	Logger        *slog.Logger
	Domains       *domain.Service
	Mailboxes     *mailbox.Service
	Messages      *message.Service
	Guests        *guest.Service
	Accounts      *account.Service
	Keys          *apikey.Service
	Filters       *filter.Service
	Webhooks      *webhook.Service
	Wallet        *wallet.Service
	Bankpay       *bankpay.Service
	BankGate      bankpay.Gate // who may call back
	Plans         plan.Catalogue
	Content       *content.Service
	Subscriptions *subscription.Service
	Ready         func(ctx context.Context) []Check
	Stopping      func() bool // whether the process is about to end: no new clients should come
	Limiter       *ratelimit.Limiter
	Gauge         *ratelimit.Gauge
	Memory        *budget.Budget // of request bodies and of answers
	Settings      Settings

	// Observe hears of every answer, for the metrics; it may be nil.
	Observe func(operation string, status int, took time.Duration)
	// Unavailable reports whether an error is the storage's and trying again helps, which makes it server.unavailable
	// instead of server.internal; it may be nil.
	Unavailable func(error) bool
}

// Settings are the operator's.
type Settings struct {
	ProbesOnly     bool   // other processes answer the rest
	BaseURL        string // how clients reach the service
	Version        string
	TrustedProxies []netip.Prefix
	BodyMax        int64         // of a request body
	LargeBodyMax   int64         // of one whose operation says LargeBody
	WriteTimeout   time.Duration // a long-poll has its wait on top
	WaitMax        time.Duration
	PageDefault    int
	PageMax        int
	SessionMax     int // live mailboxes of a guest session
	MailboxCreate  ratelimit.Limit
	SessionStart   ratelimit.Limit
	SignIn         ratelimit.Limit // to an account from an address
	SignInAccount  ratelimit.Limit // to an account from anywhere
	SignInAddress  ratelimit.Limit // and registration, from an address, to whatever account
	Register       ratelimit.Limit
	Reads          ratelimit.Limit
	Other          ratelimit.Limit
	LongPolls      int
	Connections    int // of an address
}

// API answers the interface's calls.
type API struct {
	Parts
	huma huma.API
}

// New assembles the interface: every operation, its documentation and the pages that show it.
func New(p Parts) http.Handler {
	mux := http.NewServeMux()
	a := &API{Parts: p}
	a.huma = humago.New(mux, a.config())
	a.huma.UseMiddleware(a.limit, a.authenticate, a.checkQuery, a.readBody)
	a.system()
	if !p.Settings.ProbesOnly {
		a.calls()
		a.documentation(mux)
	}
	allowNull(a.huma.OpenAPI().Components.Schemas)
	return a.outermost(mux)
}

// calls registers every group of the specification beside the probes.
func (a *API) calls() {
	a.account()
	a.auth()
	a.content()
	a.domains()
	a.filters()
	a.integrations()
	a.keys()
	a.mailboxes()
	a.messages()
	a.otp()
	a.plans()
	a.session()
	a.subscription()
	a.webhooks()
	a.wallet()
}

// config sets the library up: our own documentation paths and problems, closed request bodies, open answers.
func (a *API) config() huma.Config {
	setUpLibrary()
	c := huma.DefaultConfig("Gonebox", a.Settings.Version)
	c.CreateHooks = nil // no $schema links in answers
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.AllowAdditionalPropertiesByDefault = true
	c.FieldsOptionalByDefault = false
	c.Components.SecuritySchemes = securitySchemes()
	c.Components.Schemas = newSchemas()
	c.Servers = []*huma.Server{{URL: a.Settings.BaseURL}}
	c.Info.Description = introduction
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.Tags = tags()
	return c
}

// Data is the wrapper of every single answer (decisions §1).
type Data[T any] struct {
	Data T `json:"data"`
}

// List is the wrapper of every page of answers (decisions §1).
type List[T any] struct {
	Data       []T     `json:"data" nullable:"false"`
	NextCursor *string `json:"nextCursor" doc:"The cursor of the next page, or null where this is the last."`
}

// one and many are the answers as the library wants them.
type (
	one[T any]  struct{ Body Data[T] }
	many[T any] struct{ Body List[T] }
)

func single[T any](v T) *one[T] { return &one[T]{Body: Data[T]{Data: v}} }

func page[T any](all []T, next string) *many[T] {
	l := List[T]{Data: all}
	if all == nil {
		l.Data = []T{}
	}
	if next != "" {
		l.NextCursor = &next
	}
	return &many[T]{Body: l}
}
