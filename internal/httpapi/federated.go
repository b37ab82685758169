package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/oidc"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// federated registers the operations of the sign-in with the team's issuer (docs/spec/accounts.md#sign-in-with-an-issuer).
func (a *API) federated(group string) {
	register(a, group, httpkit.Operation{
		ID: "start-oidc", Method: http.MethodGet, Path: "/auth/oidc/start", Summary: "Go to the team's issuer to sign in", Status: 303,
		Text: "For browsers: redirects to the issuer and sets a cookie, which the callback needs. A browser (whose `Accept` has `text/html`) that is refused is sent to the sign-in page, " +
			"with the code of the problem as `#problem=`.",
		Limit: ratelimit.Other, Codes: []problem.Code{problem.OIDCMissing, problem.OIDCUnavailable},
	}, a.startOIDC)
	register(a, group, httpkit.Operation{
		ID: "complete-oidc", Method: http.MethodGet, Path: "/auth/oidc/callback", Summary: "Come back from the team's issuer", Status: 303,
		Text: "Redirects to the sign-in page with a cookie `gonebox_sign_in`, which the page takes once. It has a user token, or `password` or `code`, a full stop and a ticket for `POST /auth/oidc/finish`. " +
			"Refusals are as those of the start.",
		Limit: ratelimit.SignInAddress, AnyQuery: true, // of the issuer's (RFC 6749 §4.1.2)
		Codes: []problem.Code{problem.OIDCMissing, problem.OIDCFailed, problem.OIDCNotAllowed, problem.OIDCEmailUnverified, problem.OIDCUnavailable},
	}, a.completeOIDC)
	register(a, group, httpkit.Operation{
		ID: "finish-oidc", Method: http.MethodPost, Path: "/auth/oidc/finish", Summary: "Sign in with a ticket", Status: 200,
		Text: "A ticket `password` links the account that has the user's e-mail address: send its password. With two-factor active, a code is needed too, and with a ticket `code` alone. " +
			"A ticket is valid for 10 minutes and 10 tries, which count as sign-ins to the account.",
		Limit: ratelimit.SignIn, Codes: []problem.Code{problem.OIDCFailed, problem.AuthInvalidCredentials, problem.AuthTOTPRequired},
	}, a.finishOIDC)
}

// The cookies of a sign-in. That of an attempt, whose name ends in the beginning of its state so that several tabs do not disturb each
// other, is for the callback alone. That of the result is for the page, which deletes it.
const (
	attemptCookie = "gonebox_oidc_"
	resultCookie  = "gonebox_sign_in"
	resultTTL     = time.Minute

	stateShown = 12 // characters of the state in the name of its cookie
)

// redirection is a redirect of a browser.
type redirection struct {
	Location string   `header:"Location" doc:"Where the browser goes on."`
	Cookies  []string `header:"Set-Cookie" doc:"A cookie of the sign-in."`
}

// Browser is what decides how a refusal is shown.
type Browser struct {
	Accept string `header:"Accept" hidden:"true"`
}

func (b Browser) isPage() bool { return strings.Contains(b.Accept, "text/html") }

// refuse returns a refusal as the caller can read it: a browser is sent to the sign-in page, everyone else gets the problem.
func (a *API) refuse(ctx context.Context, b Browser, err error) (*redirection, error) {
	if !b.isPage() {
		return nil, err
	}
	p := a.kit.ProblemOf(ctx, err)
	return a.toPage("problem="+url.QueryEscape(string(p.Code)), ""), nil
}

// toPage sends a browser to the sign-in page.
func (a *API) toPage(fragment, cookie string) *redirection {
	r := &redirection{Location: a.kit.BaseURL + "/sign-in#" + fragment}
	if cookie != "" {
		r.Cookies = []string{cookie}
	}
	return r
}

// path returns a path of the service as browsers see it, below that of base_url.
func (a *API) path(below string) string {
	u, err := url.Parse(a.kit.BaseURL)
	if err != nil {
		return below
	}
	return strings.TrimSuffix(u.Path, "/") + below
}

// cookie returns a cookie that other sites' requests do not carry, but for navigations to this one.
func (a *API) cookie(c http.Cookie) string {
	c.SameSite, c.Secure = http.SameSiteLaxMode, strings.HasPrefix(a.kit.BaseURL, "https://")
	return c.String()
}

func (a *API) attemptCookie(state, value string, life time.Duration) string {
	return a.cookie(http.Cookie{
		Name: attemptCookie + state[:min(len(state), stateShown)], Value: value, Path: a.path(BasePath + "/auth/oidc/callback"), MaxAge: int(life.Seconds()), HttpOnly: true,
	})
}

func (a *API) startOIDC(ctx context.Context, in *Browser) (*redirection, error) {
	if a.OIDC == nil {
		return a.refuse(ctx, *in, errNoIssuer())
	}
	attempt, err := a.OIDC.Begin(ctx)
	if err != nil {
		return a.refuse(ctx, *in, a.issuerProblem(ctx, err))
	}
	return &redirection{Location: attempt.URL, Cookies: []string{a.attemptCookie(attempt.State, attempt.Cookie, oidc.AttemptTTL)}}, nil
}

func errNoIssuer() error {
	return problem.Detailf(problem.OIDCMissing, "the operator has set up no issuer (oidc.issuer)")
}

// issuerProblem returns the problem of an error of the issuer. What was wrong is logged and not shown.
func (a *API) issuerProblem(ctx context.Context, err error) error {
	code := problem.OIDCUnavailable
	if errors.Is(err, oidc.ErrRefused) {
		code = problem.OIDCFailed
	} else if !errors.Is(err, oidc.ErrUnavailable) {
		return err
	}
	a.kit.Logger.LogAttrs(ctx, slog.LevelWarn, "a sign-in with the issuer failed", slog.Any("error", err))
	return problem.New(code)
}

// fromIssuer is what an issuer sends a browser back with.
type fromIssuer struct {
	Browser
	State   string `query:"state" maxLength:"200" doc:"Of the attempt."`
	Code    string `query:"code" maxLength:"4096" doc:"The code of the issuer."`
	Error   string `query:"error" maxLength:"200" doc:"Why there is no code."`
	Cookies string `header:"Cookie" hidden:"true"`
}

// attempt returns the cookie of the attempt, "" if the browser has none. Others may have set cookies of any form for the same host.
func (f *fromIssuer) attempt() string {
	if f.State == "" {
		return ""
	}
	r := &http.Request{Header: http.Header{"Cookie": {f.Cookies}}}
	for _, c := range r.Cookies() {
		if c.Name == attemptCookie+f.State[:min(len(f.State), stateShown)] {
			return c.Value
		}
	}
	return ""
}

func (a *API) completeOIDC(ctx context.Context, in *fromIssuer) (*redirection, error) {
	if a.OIDC == nil {
		return a.refuse(ctx, in.Browser, errNoIssuer())
	}
	value, err := a.arrive(ctx, in)
	if err != nil {
		return a.refuse(ctx, in.Browser, err)
	}
	return a.toPage("signed-in", a.cookie(http.Cookie{Name: resultCookie, Value: value, Path: a.path("/"), MaxAge: int(resultTTL.Seconds())})), nil
}

// arrive returns the cookie of the result.
func (a *API) arrive(ctx context.Context, in *fromIssuer) (cookie string, err error) {
	back, err := a.OIDC.Open(in.State, in.attempt())
	if err != nil {
		return "", a.issuerProblem(ctx, err)
	}
	if err := a.Accounts.UseState(ctx, in.State); err != nil {
		return "", err
	}
	if in.Error != "" || in.Code == "" {
		return "", problem.Detailf(problem.OIDCFailed, "the issuer did not sign you in; try again")
	}
	who, err := back.Exchange(ctx, in.Code)
	if err != nil {
		return "", a.issuerProblem(ctx, err)
	}
	arrival, err := a.Accounts.SignInFederated(ctx, who, clientOf(ctx))
	switch {
	case err != nil:
		return "", err
	case arrival.Ticket != "":
		return string(arrival.Need) + "." + arrival.Ticket, nil
	}
	return arrival.Credential, nil
}

type ticket struct {
	_        struct{} `additionalProperties:"false"`
	Ticket   string   `json:"ticket" maxLength:"64" doc:"The ticket in the cookie of the callback." example:"QCNLBB4VPDLGVWWYUN2ENUUEPC"`
	Password *string  `json:"password,omitempty" maxLength:"200" doc:"The password of the account, for a ticket that needs one." example:"correct horse battery staple"`
	Code     *string  `json:"code,omitempty" maxLength:"16" doc:"The two-factor code, or a recovery code." example:"482913"`
}

func (a *API) finishOIDC(ctx context.Context, in *struct{ Body ticket }) (*httpkit.One[UserToken], error) {
	slot, err := a.reserveHash(ctx)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	email, err := a.Accounts.TicketEmail(ctx, in.Body.Ticket)
	if err != nil {
		return nil, err
	}
	if err := a.allowSignIn(ctx, email); err != nil {
		return nil, err
	}
	token, s, err := a.Accounts.Finish(ctx, slot, in.Body.Ticket, account.Credentials{
		Password: value(in.Body.Password), Code: value(in.Body.Code), Client: clientOf(ctx),
	})
	if err != nil {
		return nil, err
	}
	return a.shownToken(ctx, token, s)
}

// checkPasswords checks that accounts sign in with passwords. Error: access.closed.
func (a *API) checkPasswords() error {
	if a.Access.Password {
		return nil
	}
	return problem.Detailf(problem.AccessClosed, "passwords are off here; sign in with %s", value(a.Access.OIDC))
}
