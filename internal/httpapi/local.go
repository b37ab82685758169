package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// localSignIn registers the sign-in without a password of profile: dev (docs/spec/dev.md#the-inbox).
func (a *API) localSignIn() {
	register(a, "auth", httpkit.Operation{
		ID: "sign-in-locally", Method: http.MethodPost, Path: "/auth/local", Summary: "Sign in to the account of profile: dev", Status: 200,
		Text: "Without a password, for local requests under `profile: dev` alone, and of web pages for those of the same host and port alone. " +
			"The token lives for an hour, and use does not extend it.",
		Limit: ratelimit.Other, Codes: []problem.Code{problem.AccessClientNotAllowed, problem.AccessHostNotAllowed, problem.AccessOriginNotAllowed},
	}, a.signInLocally)
}

func (a *API) signInLocally(ctx context.Context, _ *struct{}) (*httpkit.One[UserToken], error) {
	if a.LocalAccount == nil {
		return nil, problem.Detailf(problem.AccessClientNotAllowed, "accounts sign in with a password; only under profile: dev there is one without")
	}
	if err := httpkit.CheckOwn(ctx); err != nil {
		return nil, err
	}
	owner, err := a.LocalAccount(ctx)
	if err != nil {
		return nil, err
	}
	token, s, err := a.Accounts.OpenLocalSession(ctx, owner, clientOf(ctx))
	if err != nil {
		return nil, err
	}
	return a.shownToken(ctx, token, s)
}
