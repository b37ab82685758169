package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// staffRole is the Scope of operations that only accounts with the role staff may call.
const staffRole = "role:staff"

// checkStaff checks the role of a caller with a user token, and that two-factor authentication is active where the operator asks for
// it. Errors: auth.role_missing, auth.two_factor_missing.
func (a *API) checkStaff(c caller) error {
	if c.account == nil || c.account.Role != account.Staff {
		return problem.Detailf(problem.AuthRoleMissing, "this operation needs an account with the role staff")
	}
	if a.StaffTwoFactor && c.account.TwoFactor(a.kit.Clock.Now()) != account.Active {
		return problem.Detailf(problem.AuthTwoFactorMissing, "turn on two-factor authentication for this account first (POST /me/2fa/setup)")
	}
	return nil
}

// staffName returns what the audit log calls the caller.
func staffName(c caller) string {
	if c.account == nil {
		return ""
	}
	return string(c.account.ID)
}

// registerStaff adds an operation of the group staff.
func registerStaff[I, O any](a *API, o httpkit.Operation, handle func(context.Context, *I) (*O, error)) {
	o.Auth, o.Limit, o.Scope = []httpkit.Scheme{userToken}, ratelimit.Other, staffRole
	register(a, "staff", o, handle)
}

// staff registers the group staff (docs/spec/staff.md).
func (a *API) staff() {
	a.staffOverview()
	a.staffUsers()
	a.staffDomains()
	a.staffContent()
	a.staffPayments()
	a.staffBlocks()
	a.staffMailboxes()
	a.staffMessages()
	a.staffIngress()
	registerStaff(a, httpkit.Operation{
		ID: "list-audit-log", Method: http.MethodGet, Path: "/staff/audit", Summary: "List the audit log", Status: 200,
		Text: "Newest first: every change by the operations of this group and by the operator's commands. The database refuses to change or delete an entry.",
	}, a.listAudit)
}

func (a *API) staffUsers() {
	gone := []problem.Code{problem.AccountNotFound}
	registerStaff(a, httpkit.Operation{
		ID: "list-users", Method: http.MethodGet, Path: "/staff/users", Summary: "List the accounts", Status: 200,
		Text: "Newest first.",
	}, a.listUsers)
	registerStaff(a, httpkit.Operation{
		ID: "add-user", Method: http.MethodPost, Path: "/staff/users", Summary: "Create an account", Status: 201,
		Text:  "Whatever `access.registration` says. Without `password` a random one is set, which only this response shows.",
		Codes: []problem.Code{problem.AccountEmailTaken},
	}, a.addUser)
	registerStaff(a, httpkit.Operation{
		ID: "get-user", Method: http.MethodGet, Path: "/staff/users/{user}", Summary: "Show an account", Status: 200, Codes: gone,
	}, a.getUser)
	registerStaff(a, httpkit.Operation{
		ID: "change-user", Method: http.MethodPatch, Path: "/staff/users/{user}", Summary: "Change an account", Status: 200,
		Text:  "Assigns a plan or a role, disables the account or enables it. Absent fields stay as they are.",
		Codes: gone,
	}, a.changeUser)
	registerStaff(a, httpkit.Operation{
		ID: "reset-password", Method: http.MethodPost, Path: "/staff/users/{user}/password", Summary: "Set a new password", Status: 200,
		Text:  "Also ends the account's user tokens, developer keys and mailbox tokens. Without `password` a random one is set, which only this response shows.",
		Codes: gone,
	}, a.resetPassword)
	registerStaff(a, httpkit.Operation{
		ID: "adjust-points", Method: http.MethodPost, Path: "/staff/users/{user}/points", Summary: "Add or remove points", Status: 201,
		Text:  "Books an adjustment in the account's ledger, where its owner sees the note.",
		Codes: []problem.Code{problem.AccountNotFound, problem.WalletInsufficientPoints},
	}, a.adjustPoints)
}

// StaffUser is an account as staff see it.
type StaffUser struct {
	ID        id.Account  `json:"id" doc:"The identifier of the account." example:"acc_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Email     string      `json:"email" doc:"The e-mail address." example:"you@example.org"`
	Locale    string      `json:"locale" doc:"A language tag (BCP 47)." example:"en"`
	Plan      string      `json:"plan" doc:"The code of the plan that staff assigned; a bought plan may be better." example:"free"`
	Role      string      `json:"role" enum:"user,staff" doc:"What the account may do."`
	TwoFactor string      `json:"twoFactor" enum:"off,pending,active" doc:"The state of two-factor authentication."`
	Disabled  bool        `json:"disabled" doc:"Whether the account is disabled."`
	CreatedAt clock.Stamp `json:"createdAt" doc:"When the account was created."`
}

// StaffUserPassword is an account with its new password.
type StaffUserPassword struct {
	StaffUser
	Password *string `json:"password" nullable:"true" doc:"The generated password, shown only in this response; null if the request had one." example:"X5K2W7QJ4M3N6P2R5T7V2W4Y6Z"`
}

func (a *API) staffUser(u *account.Account) StaffUser {
	return StaffUser{
		ID: u.ID, Email: u.Email, Locale: u.Locale, Plan: u.Plan, Role: string(u.Role), TwoFactor: string(u.TwoFactor(a.kit.Clock.Now())),
		Disabled: u.Disabled, CreatedAt: clock.Stamp{Time: u.CreatedAt},
	}
}

// UserPath names an account.
type UserPath struct {
	User string `path:"user" maxLength:"320" doc:"The identifier or the e-mail address of the account."`
}

func (a *API) listUsers(ctx context.Context, in *struct {
	httpkit.Paging
	Search string `query:"search" maxLength:"255" doc:"Only accounts whose e-mail address contains this, regardless of case." example:"@example.org"`
},
) (*httpkit.Many[StaffUser], error) {
	last, err := httpkit.Before[id.Account](in.Paging)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(in.Paging)
	all, err := a.Registry.List(ctx, in.Search, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(u *account.Account) string { return string(u.ID) })
	shown := make([]StaffUser, len(all))
	for i, u := range all {
		shown[i] = a.staffUser(u)
	}
	return httpkit.Page(shown, next), nil
}

// userCreation is the body that creates an account for staff.
type userCreation struct {
	_        struct{} `additionalProperties:"false"`
	Email    string   `json:"email" maxLength:"255" doc:"The e-mail address." example:"ci@example.org"`
	Password string   `json:"password,omitempty" maxLength:"1024" doc:"The password, 10 characters or more; a random one if absent." example:"correct horse battery"`
	Plan     string   `json:"plan,omitempty" maxLength:"64" doc:"The code of a plan; the free one if absent." example:"pro"`
	Role     string   `json:"role,omitempty" enum:"user,staff" doc:"What the account may do; user if absent."`
}

func (a *API) addUser(ctx context.Context, in *struct{ Body userCreation }) (*httpkit.One[StaffUserPassword], error) {
	b := in.Body
	password, u, err := a.Registry.Add(ctx, account.Provision{Email: b.Email, Password: b.Password, Plan: b.Plan, Role: account.Role(b.Role)})
	if err != nil {
		return nil, err
	}
	return a.userWithPassword(u, password, b.Password != ""), nil
}

// userWithPassword shows a password that the service generated.
func (a *API) userWithPassword(u *account.Account, password string, given bool) *httpkit.One[StaffUserPassword] {
	if given {
		password = ""
	}
	return httpkit.Single(StaffUserPassword{a.staffUser(u), textOrNull(password)})
}

func (a *API) getUser(ctx context.Context, in *UserPath) (*httpkit.One[StaffUser], error) {
	u, err := a.Registry.Find(ctx, in.User)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(a.staffUser(u)), nil
}

// userUpdate is the body that changes an account.
type userUpdate struct {
	_        struct{} `additionalProperties:"false"`
	Plan     *string  `json:"plan,omitempty" maxLength:"64" doc:"The code of the plan to assign." example:"plus"`
	Role     *string  `json:"role,omitempty" enum:"user,staff" doc:"What the account may do."`
	Disabled *bool    `json:"disabled,omitempty" doc:"True disables the account, which ends its user tokens, developer keys and mailbox tokens and defers its mail; false enables it."`
}

func (a *API) changeUser(ctx context.Context, in *struct {
	UserPath
	Body userUpdate
},
) (*httpkit.One[StaffUser], error) {
	c := account.Change{Plan: in.Body.Plan, Disabled: in.Body.Disabled}
	if in.Body.Role != nil {
		c.Role = new(account.Role(*in.Body.Role))
	}
	u, err := a.Registry.Change(ctx, in.User, c)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(a.staffUser(u)), nil
}

// passwordReset is the body that sets a new password.
type passwordReset struct {
	_            struct{} `additionalProperties:"false"`
	Password     string   `json:"password,omitempty" maxLength:"1024" doc:"The password, 10 characters or more; a random one if absent." example:"correct horse battery"`
	EndTwoFactor bool     `json:"endTwoFactor,omitempty" doc:"Also turn off two-factor authentication, for an owner who has lost the authenticator and the recovery codes."`
}

func (a *API) resetPassword(ctx context.Context, in *struct {
	UserPath
	Body passwordReset
},
) (*httpkit.One[StaffUserPassword], error) {
	password, u, err := a.Registry.ResetPassword(ctx, in.User, in.Body.Password, in.Body.EndTwoFactor)
	if err != nil {
		return nil, err
	}
	return a.userWithPassword(u, password, in.Body.Password != ""), nil
}

// AuditEntry is a change in the audit log.
type AuditEntry struct {
	ID     id.Audit    `json:"id" doc:"The identifier of the entry." example:"aud_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	At     clock.Stamp `json:"at" doc:"When the change was made."`
	Actor  string      `json:"actor" doc:"The e-mail address of the member of staff, or command." example:"staff@example.org"`
	Action string      `json:"action" doc:"What was done, by the name of the command." example:"user.disable"`
	Target string      `json:"target" doc:"What was changed." example:"you@example.org"`
	Detail string      `json:"detail" doc:"The change, without secrets; may be empty." example:"plus"`
}

func (a *API) listAudit(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[AuditEntry], error) {
	last, err := httpkit.Before[id.Audit](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Audit.List(ctx, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(e *audit.Entry) string { return string(e.ID) })
	shown := make([]AuditEntry, len(all))
	for i, e := range all {
		shown[i] = AuditEntry{e.ID, clock.Stamp{Time: e.At}, e.Actor, e.Action, e.Target, e.Detail}
	}
	return httpkit.Page(shown, next), nil
}
