package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// credentialChanges registers the operations that change the password and the e-mail address of an account
// (docs/spec/accounts.md#the-password).
func (a *API) credentialChanges(group string) {
	auth := []httpkit.Scheme{userToken}
	register(a, group, httpkit.Operation{
		ID: "change-password", Method: http.MethodPost, Path: "/me/password", Summary: "Change the password", Status: 204,
		Text: "Every other user token of the account ends; developer keys stay. Counts as a sign-in.",
		Auth: auth, Limit: ratelimit.SignIn, Codes: []problem.Code{problem.AccountPasswordWrong},
	}, a.changePassword)
	register(a, group, httpkit.Operation{
		ID: "change-email", Method: http.MethodPost, Path: "/me/email", Summary: "Send a code to an e-mail address, to make it the account's", Status: 202,
		Text: "The address may be the one that the account has, which the code then confirms. The address before gets a notice. Counts as a sign-in. " +
			"A code is valid for 30 minutes and replaces the one before; an address is sent five in an hour.",
		Auth: auth, Limit: ratelimit.SignIn, Codes: []problem.Code{problem.AccountPasswordWrong, problem.RelayMissing},
	}, a.changeEmail)
	register(a, group, httpkit.Operation{
		ID: "confirm-email", Method: http.MethodPost, Path: "/me/email/confirm", Summary: "Confirm an e-mail address with a code", Status: 200,
		Text: "The address that the code was sent to becomes the account's.",
		Auth: auth, Limit: ratelimit.Other, Codes: []problem.Code{problem.AccountCodeInvalid, problem.AccountEmailTaken, problem.RelayMissing},
	}, a.confirmEmail)
	register(a, group, httpkit.Operation{
		ID: "delete-account", Method: http.MethodDelete, Path: "/me", Summary: "Delete the account", Status: 204,
		Text: "Its credentials end at once; mailboxes, domains, filters, webhooks and all personal data are erased within a minute. The ledger, orders and the audit log stay with the identifier of the account alone. " +
			"Counts as a sign-in. For an account without a password, a sign-in within the last 10 minutes stands for it, and `password` is empty.",
		Auth: auth, Limit: ratelimit.SignIn, Codes: []problem.Code{problem.AccountPasswordWrong, problem.TOTPInvalidCode},
	}, a.deleteAccount)
}

// passwordReset registers the operations for a password that was forgotten (docs/spec/accounts.md#a-forgotten-password).
func (a *API) passwordReset(group string) {
	register(a, group, httpkit.Operation{
		ID: "forgot-password", Method: http.MethodPost, Path: "/auth/password/forgot", Summary: "Send a link that sets a new password", Status: 202,
		Text:  "The response is the same whatever the address, and comes after the same work. An account is sent one mail at most in 5 minutes.",
		Limit: ratelimit.SignInAddress, Codes: []problem.Code{problem.RelayMissing, problem.AccessClosed},
	}, a.forgotPassword)
	register(a, group, httpkit.Operation{
		ID: "set-forgotten-password", Method: http.MethodPost, Path: "/auth/password/reset", Summary: "Set a new password with the token of a link", Status: 204,
		Text:  "The token can be used once, within 30 minutes. Every user token of the account ends; two-factor authentication and developer keys stay.",
		Limit: ratelimit.Other, Codes: []problem.Code{problem.AccountCodeInvalid, problem.RelayMissing},
	}, a.setForgottenPassword)
}

type passwordChange struct {
	_        struct{} `additionalProperties:"false"`
	Current  string   `json:"current" maxLength:"200" example:"correct horse battery staple" doc:"The password of the account."`
	Password string   `json:"password" minLength:"8" maxLength:"200" example:"a horse of another colour" doc:"The new password, 8 to 200 characters."`
}

func (a *API) changePassword(ctx context.Context, in *struct{ Body passwordChange }) (*struct{}, error) {
	change := account.PasswordChange{Current: in.Body.Current, New: in.Body.Password}
	if err := change.Validate(); err != nil { // before the password is hashed
		return nil, err
	}
	slot, err := a.ownPassword(ctx)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	return nil, a.Accounts.ChangePassword(ctx, slot, from(ctx).login, change)
}

// ownPassword reserves a slot to check the password of the account that is signed in, and counts that as a sign-in. Error:
// rate.limited.
func (a *API) ownPassword(ctx context.Context) (*account.HashSlot, error) {
	slot, err := a.reserveHash(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.allowSignIn(ctx, from(ctx).account.Email); err != nil {
		slot.Release()
		return nil, err
	}
	return slot, nil
}

type emailChange struct {
	_        struct{} `additionalProperties:"false"`
	Password string   `json:"password" maxLength:"200" example:"correct horse battery staple" doc:"The password of the account."`
	Email    string   `json:"email" maxLength:"255" example:"you@example.org" doc:"The address to send a code to."`
}

// Accepted is the response to a request for a mail.
type Accepted struct {
	Status string `json:"status" enum:"accepted" doc:"The mail is sent in a moment, if it is sent at all."`
}

func accepted() *httpkit.One[Accepted] { return httpkit.Single(Accepted{"accepted"}) }

func (a *API) changeEmail(ctx context.Context, in *struct{ Body emailChange }) (*httpkit.One[Accepted], error) {
	if err := a.Accounts.CheckRelay(); err != nil {
		return nil, err
	}
	slot, err := a.ownPassword(ctx)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	if err := a.Accounts.RequestEmail(ctx, slot, from(ctx).account, in.Body.Password, in.Body.Email); err != nil {
		return nil, err
	}
	return accepted(), nil
}

type emailCode struct {
	_    struct{} `additionalProperties:"false"`
	Code string   `json:"code" minLength:"1" maxLength:"16" doc:"The code in the mail; spaces do not matter." example:"482913"`
}

func (a *API) confirmEmail(ctx context.Context, in *struct{ Body emailCode }) (*httpkit.One[Account], error) {
	acc := from(ctx).account
	if err := a.Accounts.ConfirmEmail(ctx, acc, in.Body.Code); err != nil {
		return nil, err
	}
	return a.showAccount(ctx, acc)
}

type forgottenPassword struct {
	_     struct{} `additionalProperties:"false"`
	Email string   `json:"email" minLength:"1" maxLength:"255" example:"you@example.org" doc:"The e-mail address of the account."`
}

func (a *API) forgotPassword(ctx context.Context, in *struct{ Body forgottenPassword }) (*httpkit.One[Accepted], error) {
	if err := a.checkPasswords(); err != nil {
		return nil, err
	}
	if err := a.Accounts.Forgot(ctx, in.Body.Email); err != nil {
		return nil, err
	}
	return accepted(), nil
}

type passwordResetting struct {
	_        struct{} `additionalProperties:"false"`
	Token    string   `json:"token" minLength:"1" maxLength:"64" example:"QCNLBB4VPDLGVWWYUN2ENUUEPC" doc:"The token in the link."`
	Password string   `json:"password" minLength:"8" maxLength:"200" example:"a horse of another colour" doc:"The new password, 8 to 200 characters."`
}

func (a *API) setForgottenPassword(ctx context.Context, in *struct{ Body passwordResetting }) (*struct{}, error) {
	if err := a.Accounts.CheckReset(ctx, in.Body.Token, in.Body.Password); err != nil { // before the password is hashed
		return nil, err
	}
	slot, err := a.reserveHash(ctx)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	return nil, a.Accounts.Reset(ctx, slot, in.Body.Token, in.Body.Password)
}

type accountDeletion struct {
	_        struct{} `additionalProperties:"false"`
	Password string   `json:"password" maxLength:"200" example:"correct horse battery staple" doc:"The password of the account."`
	Code     *string  `json:"code,omitempty" maxLength:"16" doc:"A two-factor code or a recovery code, where two-factor is active." example:"482913"`
}

func (a *API) deleteAccount(ctx context.Context, in *struct{ Body accountDeletion }) (*struct{}, error) {
	slot, err := a.ownPassword(ctx)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	return nil, a.Accounts.Leave(ctx, slot, from(ctx).login, in.Body.Password, value(in.Body.Code))
}
