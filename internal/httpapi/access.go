package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// access registers the operation that says what the service is open to, so that a page can ask before it shows a form that would be
// refused (docs/spec/accounts.md#what-is-open).
func (a *API) access() {
	register(a, "system", httpkit.Operation{
		ID: "get-access", Method: http.MethodGet, Path: "/access", Summary: "Show what the service is open to", Status: 200,
		Limit: ratelimit.Other,
	}, a.getAccess)
}

// Access is what clients without a credential may do, and how accounts are handled.
type Access struct {
	Registration string  `json:"registration" enum:"open,invite,closed" doc:"Who may register an account: everyone, clients with an invitation, or none."`
	Guests       bool    `json:"guests" doc:"Whether clients without an account may create mailboxes and sessions."`
	Mail         bool    `json:"mail" doc:"Whether the service sends mail: codes, links that set a password, and messages that are released."`
	ConfirmEmail bool    `json:"confirmEmail" doc:"Whether an account that registered needs a confirmed e-mail address for keys, domains and webhooks."`
	Password     bool    `json:"password" doc:"Whether accounts are registered and sign in with a password."`
	OIDC         *string `json:"oidc" nullable:"true" doc:"What the sign-in with the team's issuer is called; null if there is none. It begins at GET /auth/oidc/start." example:"Example Inc."`
	Contact      *string `json:"contact" nullable:"true" doc:"Whom to ask, an e-mail address or a URL; null if the operator names none." example:"admin@example.org"`
}

func (a *API) getAccess(context.Context, *struct{}) (*httpkit.One[Access], error) {
	return httpkit.Single(a.Access), nil
}
