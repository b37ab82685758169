package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// account registers the group account (docs/spec/accounts.md#two-factor-authentication).
func (a *API) account() {
	const group = "account"
	auth := []httpkit.Scheme{userToken}
	register(a, group, httpkit.Operation{
		ID: "get-account", Method: http.MethodGet, Path: "/me", Summary: "Show the account", Status: 200,
		Auth: auth, Limit: ratelimit.Other,
	}, a.getAccount)
	register(a, group, httpkit.Operation{
		ID: "update-account", Method: http.MethodPatch, Path: "/me", Summary: "Change the account's settings", Status: 200,
		Text: "Omitted fields stay as they are.",
		Auth: auth, Limit: ratelimit.Other,
	}, a.updateAccount)
	register(a, group, httpkit.Operation{
		ID: "get-two-factor", Method: http.MethodGet, Path: "/me/2fa", Summary: "Show the state of two-factor", Status: 200,
		Auth: auth, Limit: ratelimit.Other,
	}, a.getTwoFactor)
	register(a, group, httpkit.Operation{
		ID: "set-up-two-factor", Method: http.MethodPost, Path: "/me/2fa/setup", Summary: "Start setting up two-factor", Status: 200,
		Text: "The secret is shown only in this response. Signing in needs no code until the enrolment is confirmed. An enrolment that is not confirmed in time expires; a new one replaces it.",
		Auth: auth, Limit: ratelimit.Other, Codes: []problem.Code{problem.TOTPAlreadyActive},
	}, a.setUpTwoFactor)
	register(a, group, httpkit.Operation{
		ID: "confirm-two-factor", Method: http.MethodPost, Path: "/me/2fa/confirm", Summary: "Confirm two-factor with a code", Status: 200,
		Text: "The recovery codes are shown only in this response. Each can be used once wherever a code is asked for, in upper or lower case and with or without spaces and hyphens.",
		Auth: auth, Limit: ratelimit.Other, Codes: []problem.Code{problem.TOTPNotPending, problem.TOTPInvalidCode},
	}, a.confirmTwoFactor)
	register(a, group, httpkit.Operation{
		ID: "end-two-factor", Method: http.MethodDelete, Path: "/me/2fa", Summary: "Turn two-factor off", Status: 204,
		Text: "Needs a current code or a recovery code. While two-factor is not active no code is valid.",
		Auth: auth, Limit: ratelimit.Other, Codes: []problem.Code{problem.TOTPInvalidCode},
	}, a.endTwoFactor)
	a.credentialChanges(group)
	a.sessions(group)
	a.exports(group)
}

// Account is an account as its owner sees it.
type Account struct {
	ID        id.Account  `json:"id" doc:"The identifier of the account." example:"acc_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Email     string      `json:"email" format:"email" doc:"In lower case, as it is compared."`
	Locale    string      `json:"locale" doc:"A language tag (BCP 47)." example:"en"`
	Plan      string      `json:"plan" doc:"The code of the plan in effect: the better of the one that was bought and the one that staff assigned." example:"free"`
	TwoFactor string      `json:"twoFactor" enum:"off,pending,active" doc:"The state of two-factor authentication."`
	Role      string      `json:"role" enum:"user,staff" doc:"The role of the account; staff may use the staff operations."`
	CreatedAt clock.Stamp `json:"createdAt" doc:"When the account was registered."`

	HasPassword    bool `json:"hasPassword" doc:"Whether the account has a password; one that signs in with the team's issuer may have none."`
	EmailConfirmed bool `json:"emailConfirmed" doc:"Whether the e-mail address was confirmed by a code or a link that was sent there."`
}

func (a *API) shownAccount(ctx context.Context, acc *account.Account) (Account, error) {
	p, _, err := a.Subscriptions.Plan(ctx, acc.ID)
	return Account{
		ID: acc.ID, Email: acc.Email, Locale: acc.Locale, Plan: p.Code, TwoFactor: string(acc.TwoFactor(a.kit.Clock.Now())),
		Role: string(acc.Role), CreatedAt: clock.Stamp{Time: acc.CreatedAt},
		HasPassword: acc.HasPassword(), EmailConfirmed: !acc.ConfirmedAt.IsZero(),
	}, err
}

func (a *API) getAccount(ctx context.Context, _ *struct{}) (*httpkit.One[Account], error) {
	return a.showAccount(ctx, from(ctx).account)
}

func (a *API) showAccount(ctx context.Context, acc *account.Account) (*httpkit.One[Account], error) {
	shown, err := a.shownAccount(ctx, acc)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shown), nil
}

type accountUpdate struct {
	_      struct{} `additionalProperties:"false"`
	Locale *string  `json:"locale,omitempty" maxLength:"10" doc:"A language tag (BCP 47)." example:"vi-VN"`
}

func (a *API) updateAccount(ctx context.Context, in *struct{ Body accountUpdate }) (*httpkit.One[Account], error) {
	acc := from(ctx).account
	if in.Body.Locale != nil {
		if err := a.Accounts.SetLocale(ctx, acc, *in.Body.Locale); err != nil {
			return nil, err
		}
	}
	return a.showAccount(ctx, acc)
}

// TwoFactor is the state of an account's two-factor authentication.
type TwoFactor struct {
	Status            string       `json:"status" enum:"off,pending,active" doc:"The state of two-factor authentication."`
	PendingExpiresAt  *clock.Stamp `json:"pendingExpiresAt" doc:"When a pending enrolment expires; null unless one is pending."`
	RecoveryCodesLeft int          `json:"recoveryCodesLeft" doc:"How many recovery codes have not been used." example:"10"`
}

func (a *API) getTwoFactor(ctx context.Context, _ *struct{}) (*httpkit.One[TwoFactor], error) {
	state, err := a.Accounts.TwoFactorState(ctx, from(ctx).account)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(TwoFactor{
		Status: string(state.Status), PendingExpiresAt: clock.Optional(state.PendingUntil), RecoveryCodesLeft: state.RecoveryCodes,
	}), nil
}

// Enrolment is a two-factor secret that is not confirmed yet.
type Enrolment struct {
	Secret     string      `json:"secret" doc:"Base32, for typing into an authenticator app; shown only in this response." example:"JBSWY3DPEHPK3PXP"`
	OtpauthURL string      `json:"otpauthUrl" format:"uri" doc:"The same for a QR code." example:"otpauth://totp/Gonebox:you@example.org?secret=JBSWY3DPEHPK3PXP&issuer=Gonebox"`
	ExpiresAt  clock.Stamp `json:"expiresAt" doc:"It must be confirmed before."`
}

func (a *API) setUpTwoFactor(ctx context.Context, _ *struct{}) (*httpkit.One[Enrolment], error) {
	e, err := a.Accounts.SetUp(ctx, from(ctx).account)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(Enrolment{Secret: e.Secret, OtpauthURL: e.URL, ExpiresAt: clock.Stamp{Time: e.ExpiresAt}}), nil
}

type twoFactorCode struct {
	_    struct{} `additionalProperties:"false"`
	Code string   `json:"code" maxLength:"16" doc:"A current code, or a recovery code." example:"482913"`
}

// TwoFactorConfirmed is the response to confirming two-factor.
type TwoFactorConfirmed struct {
	Status        string   `json:"status" enum:"active" doc:"The state of two-factor authentication."`
	RecoveryCodes []string `json:"recoveryCodes" nullable:"false" doc:"Shown only in this response."`
}

func (a *API) confirmTwoFactor(ctx context.Context, in *struct{ Body twoFactorCode }) (*httpkit.One[TwoFactorConfirmed], error) {
	codes, err := a.Accounts.Confirm(ctx, from(ctx).account, in.Body.Code)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(TwoFactorConfirmed{Status: string(account.Active), RecoveryCodes: codes}), nil
}

func (a *API) endTwoFactor(ctx context.Context, in *struct{ Body twoFactorCode }) (*struct{}, error) {
	return nil, a.Accounts.EndTwoFactor(ctx, from(ctx).account, in.Body.Code)
}
