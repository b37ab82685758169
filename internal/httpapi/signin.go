package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// auth registers the group auth (docs/spec/accounts.md#registration-and-sign-in).
func (a *API) auth() {
	const group = "auth"
	register(a, group, httpkit.Operation{
		ID: "register-account", Method: http.MethodPost, Path: "/auth/register", Summary: "Create an account", Status: 201,
		Text:  "The response has a user token: signing in afterwards is not needed.",
		Limit: ratelimit.Register, Codes: []problem.Code{problem.AccountEmailTaken, problem.AccessClosed},
	}, a.register)
	register(a, group, httpkit.Operation{
		ID: "sign-in", Method: http.MethodPost, Path: "/auth/token", Summary: "Sign in", Status: 200,
		Text: "With two-factor active, a call with the right password and without `code` answers `auth.totp_required`: repeat it with a code. " +
			"A wrong address, password or code get the same response.",
		Limit: ratelimit.SignIn, Codes: []problem.Code{problem.AuthInvalidCredentials, problem.AuthTOTPRequired, problem.AccessClosed},
	}, a.signIn)
	register(a, group, httpkit.Operation{
		ID: "sign-out", Method: http.MethodDelete, Path: "/auth/token", Summary: "Sign out", Status: 204,
		Text: "Ends the token of this call, and no other.",
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
	}, a.signOut)
	a.passwordReset(group)
	a.federated(group)
}

// UserToken is a new user token with the account that it opens.
type UserToken struct {
	Token     string      `json:"token" doc:"The user token, shown only in this response." example:"xu_AQABhT9mZ2lRkq8nD0c3b1Yv"`
	TokenType string      `json:"tokenType" enum:"Bearer" doc:"The scheme to send the token with."`
	ExpiresAt clock.Stamp `json:"expiresAt" doc:"Each use extends it."`
	Account   Account     `json:"account" doc:"The account that signed in."`
}

func (a *API) shownToken(ctx context.Context, token string, s *account.Session) (*httpkit.One[UserToken], error) {
	shown, err := a.shownAccount(ctx, s.Account)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(UserToken{Token: token, TokenType: "Bearer", ExpiresAt: clock.Stamp{Time: s.ExpiresAt}, Account: shown}), nil
}

type registration struct {
	_        struct{} `additionalProperties:"false"`
	Email    string   `json:"email" maxLength:"255" example:"you@example.org" doc:"The e-mail address of the account."`
	Password string   `json:"password" minLength:"8" maxLength:"200" example:"correct horse battery staple" doc:"The password, 8 to 200 characters."`
	Locale   *string  `json:"locale,omitempty" maxLength:"10" doc:"A language tag (BCP 47); en if absent." example:"vi-VN"`
	Invite   *string  `json:"invite,omitempty" maxLength:"64" doc:"The code of an invitation, which can be used once; needed where the operator has restricted registration." example:"QCNLBB4VPDLGVWWYUN2ENUUEPC"`
}

func (a *API) register(ctx context.Context, in *struct{ Body registration }) (*httpkit.One[UserToken], error) {
	if err := a.checkPasswords(); err != nil {
		return nil, err
	}
	registration := account.Registration{Email: in.Body.Email, Password: in.Body.Password, Locale: in.Body.Locale, Invite: value(in.Body.Invite), Client: clientOf(ctx)}
	if err := registration.Validate(); err != nil { // before the password is hashed
		return nil, err
	}
	slot, err := a.reserveHash(ctx)
	if err != nil {
		// The call was counted as a registration, but has not created an account: give the count back.
		a.kit.Uncount(ctx, ratelimit.Register, httpkit.AddrIdentity(ctx), a.kit.Limit(ratelimit.Register))
		return nil, err
	}
	defer slot.Release()
	token, s, err := a.Accounts.Register(ctx, slot, registration)
	if err != nil {
		return nil, err
	}
	return a.shownToken(ctx, token, s)
}

type credentials struct {
	_        struct{} `additionalProperties:"false"`
	Email    string   `json:"email" maxLength:"255" example:"you@example.org" doc:"The e-mail address of the account."`
	Password string   `json:"password" maxLength:"200" example:"correct horse battery staple" doc:"The password of the account."`
	Code     *string  `json:"code,omitempty" maxLength:"16" doc:"The two-factor code, or a recovery code." example:"482913"`
}

func (a *API) signIn(ctx context.Context, in *struct{ Body credentials }) (*httpkit.One[UserToken], error) {
	if err := a.checkPasswords(); err != nil {
		return nil, err
	}
	slot, err := a.reserveHash(ctx)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	if err := a.allowSignIn(ctx, in.Body.Email); err != nil {
		return nil, err
	}
	token, s, err := a.Accounts.SignIn(ctx, slot, account.Credentials{
		Email: in.Body.Email, Password: in.Body.Password, Code: value(in.Body.Code), Client: clientOf(ctx),
	})
	if err != nil {
		return nil, err
	}
	return a.shownToken(ctx, token, s)
}

// reserveHash reserves a slot in the queue of password hashes, counts the call against the limit of its address, so that one
// address cannot keep all others from signing in, and waits for its turn. The slot comes first: a call that finds the queue
// full, or whose turn does not come, costs next to nothing and counts against no limit, since clients that share an address
// would otherwise use up the limit by retrying. Error: rate.limited.
func (a *API) reserveHash(ctx context.Context) (*account.HashSlot, error) {
	slot, err := a.Accounts.ReserveHash(httpkit.AddrIdentity(ctx))
	if err != nil {
		return nil, err
	}
	d, err := a.kit.AwaitTurn(ctx, ratelimit.SignInAddress, slot)
	if err != nil {
		if !d.OK {
			httpkit.ShowLimit(ctx, d)
		}
		return nil, err
	}
	return slot, nil
}

// allowSignIn counts a sign-in against the two limits of its account (docs/spec/limits.md#rate-limits), after it got a slot:
// a sign-in that finds the queue full counts against neither. The limit of the account from any address comes second, so
// that an address above its own limit cannot use it up and lock the owner out. Error: rate.limited.
func (a *API) allowSignIn(ctx context.Context, email string) error {
	who := account.Identity(email)
	take := func(name ratelimit.Name, identity string) ratelimit.Decision {
		return a.kit.Count(ctx, name, identity, a.kit.Limit(name))
	}
	d := take(ratelimit.SignIn, who+" "+httpkit.AddrIdentity(ctx))
	if d.OK {
		if wide := take(ratelimit.SignInAccount, who); !wide.OK {
			d = wide
		}
	}
	httpkit.ShowLimit(ctx, d)
	if !d.OK {
		return d.Problem()
	}
	return nil
}

func (a *API) signOut(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, a.Accounts.End(ctx, from(ctx).login)
}
