// Package httpapi is the public HTTP API: one file for each group of operations, with the table of the operations on top
// and their handlers below. A handler decodes the input, calls a domain package and encodes the result. It makes no
// decisions of the domain and opens no transaction. What does not depend on a domain is in package httpkit.
package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/block"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
	"github.com/gonebox/gonebox/internal/webhook"
)

// BasePath begins every path of the API.
const BasePath = "/api/v1"

// Parts are what the API is assembled from.
type Parts struct {
	HTTP          httpkit.Config // New fills in its API
	Domains       *domain.Service
	Mailboxes     *mailbox.Service
	Injector      Injector
	Messages      *message.Service
	Deliveries    *deliverylog.Service
	Follow        *follow.Service
	Guests        *guest.Service
	Accounts      *account.Service
	Registry      *account.Registry // for staff
	Audit         *audit.Log
	Blocks        *block.Service
	Keys          *apikey.Service
	Filters       *filter.Service
	Webhooks      *webhook.Service
	Wallet        *wallet.Service
	Bankpay       *bankpay.Service
	BankGate      bankpay.Gate // admits the bank's callbacks
	Plans         plan.Catalogue
	Content       *content.Service
	Subscriptions *subscription.Service
	Ready         func(ctx context.Context) []Check
	Stopping      func() bool // reports whether the process is shutting down
	ProbesOnly    bool        // serve nothing but the probes: other processes serve the API
	GuestsOff     bool        // access.guests is off: clients without an account may not create mailboxes
	InjectOff     bool        // inject is off: clients may not inject messages
	MessageMax    int64       // octets of an injected message
	SessionMax    int         // live mailboxes of a guest session
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
	a.account()
	a.auth()
	a.content()
	a.domains()
	a.events()
	a.filters()
	a.integrations()
	a.keys()
	a.mailboxes()
	a.messages()
	a.otp()
	a.plans()
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
	case countsByKey(&o), o.Limit == ratelimit.Other && len(o.Auth) > 0:
		o.CountBy = httpkit.ByCaller
	}
	o.Codes = slices.Concat(o.Codes, credentialCodes(&o))
	httpkit.Register(a.kit, group, o, handle)
}
