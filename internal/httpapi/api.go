// Package httpapi is the public HTTP API: one file for each group of operations, with the table of the operations on top
// and their handlers below. A handler decodes the input, calls a domain package and encodes the result. It makes no
// decisions of the domain and opens no transaction. What does not depend on a domain is in package httpkit.
package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/block"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/diagnosis"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/ingress"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/mailcheck"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/oidc"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/project"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/release"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/transcript"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
	"github.com/gonebox/gonebox/internal/webhook"
)

// BasePath begins every path of the API.
const BasePath = "/api/v1"

// Parts are what the API is assembled from.
type Parts struct {
	HTTP           httpkit.Config // New fills in its API
	Domains        *domain.Service
	Mailboxes      *mailbox.Service
	Injector       Injector
	Ingress        *ingress.Service
	Sink           Sink
	Messages       *message.Service
	AllMail        *allmail.Service
	Checks         *mailcheck.Checker
	Deliveries     *deliverylog.Service
	Diagnoses      *diagnosis.Service
	Follow         *follow.Service
	Release        *release.Service
	Guests         *guest.Service
	Accounts       *account.Service
	Registry       *account.Registry // for staff
	Audit          *audit.Log
	Overview       func(ctx context.Context) (*Overview, error) // for staff
	Blocks         *block.Service
	Keys           *apikey.Service
	Faults         *fault.Service
	Transcripts    *transcript.Service
	Filters        *filter.Service
	Projects       *project.Service
	Webhooks       *webhook.Service
	Wallet         *wallet.Service
	Bankpay        *bankpay.Service
	BankGate       bankpay.Gate // admits the bank's callbacks
	Plans          plan.Catalogue
	Content        *content.Service
	Subscriptions  *subscription.Service
	Ready          func(ctx context.Context) []Check
	Stopping       func() bool // reports whether the process is shutting down
	ProbesOnly     bool        // serve nothing but the probes: other processes serve the API
	Access         Access      // what the operation of this name shows
	GuestsOff      bool        // access.guests is off: clients without an account may not create mailboxes
	ProjectsOff    bool        // smtp.projects is off
	StaffTwoFactor bool        // access.staff_two_factor is required
	InjectOff      bool        // inject is off: clients may not inject messages
	MessageMax     int64       // octets of an injected message
	SessionMax     int         // live mailboxes of a guest session

	// OIDC is the issuer that users sign in with; nil: there is none.
	OIDC *oidc.Client

	// LocalKey reports whether the key with a prefix may be used by local requests alone; nil: none is so.
	LocalKey func(prefix string) bool

	// MailpitURL returns the base URL of the Mailpit API of the project with a name, "" where there is none.
	MailpitURL func(name string) string

	// LocalAccount returns the account to which local requests sign in without a password; nil: there is none.
	LocalAccount func(context.Context) (*account.Account, error)
}

// Sink knows which domains the sink takes the mail of. inbound.Service implements it.
type Sink interface {
	// SinkAccount returns the account of the sink if a domain is one of its, "" if it is not.
	SinkAccount(ctx context.Context, domain string) (id.Account, error)
}

// API serves the operations.
type API struct {
	Parts
	kit *httpkit.Kit
}

// New returns the handler of the API: every operation, and its documentation.
func New(p Parts) http.Handler {
	a := &API{Parts: p}
	p.HTTP.API = httpkit.API{
		BasePath: BasePath, Title: "Gonebox", Introduction: introduction, Tags: tags(),
		Schemes: securitySchemes(), SchemaNames: schemaNames(), Authenticate: a.authenticate,
	}
	a.kit = httpkit.New(p.HTTP)
	a.system()
	if !p.ProbesOnly {
		a.groups()
		a.kit.ServeDocumentation()
	}
	return a.kit.Handler()
}

// groups registers every group of operations but the probes.
func (a *API) groups() {
	a.access()
	a.account()
	a.auth()
	a.content()
	a.domains()
	a.events()
	a.faults()
	a.filters()
	a.ingress()
	a.integrations()
	a.keys()
	a.localSignIn()
	a.mailboxes()
	a.messages()
	a.otp()
	a.plans()
	a.projects()
	a.session()
	a.staff()
	a.subscription()
	a.webhooks()
	a.wallet()
}

// register adds an operation of a group. Its calls count by the caller where there is one to count by, and it has the
// problems that its credential schemes can lead to.
func register[I, O any](a *API, group string, o httpkit.Operation, handle func(context.Context, *I) (*O, error)) {
	switch {
	case o.Limit == ratelimit.SignIn:
		o.CountBy = httpkit.ByHandler // by the account that the caller wants to sign in to
	case slices.Contains(o.Auth, apiKey), o.Limit == ratelimit.Other && len(o.Auth) > 0:
		o.CountBy = httpkit.ByCaller
	}
	o.Codes = slices.Concat(o.Codes, credentialCodes(&o))
	httpkit.Register(a.kit, group, o, handle)
}

// registerForKeys registers an operation for user tokens, and the same one for developer keys with a scope.
func registerForKeys[I, O any](a *API, group string, o httpkit.Operation, scope apikey.Scope, handle func(context.Context, *I) (*O, error)) {
	register(a, group, o, handle)
	const me = "/me"
	o.ID, o.Path, o.Text = "key-"+o.ID, "/keys"+o.Path[len(me):], strings.TrimSpace("Scope `"+string(scope)+"`. "+o.Text)
	o.Auth, o.Scope, o.Limit = []httpkit.Scheme{apiKey}, string(scope), ratelimit.KeyCalls
	register(a, "keys", o, handle)
}
