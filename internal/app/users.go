package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/plan"
)

// Users is the operator's access to a service's accounts, while the service runs or not. A running service
// takes every change up with its next call. Each method that names an account takes its e-mail address or its
// identifier, and fails where there is no such account.
type Users struct {
	db        *db.DB
	accounts  *account.Registry
	catalogue plan.Catalogue
	now       time.Time
}

// UserRow is an account as the operator sees it.
type UserRow struct {
	ID        id.Account  `json:"id"`
	Email     string      `json:"email"`
	Locale    string      `json:"locale"`
	Plan      string      `json:"plan"`
	Role      string      `json:"role"`
	TwoFactor string      `json:"twoFactor"`
	Disabled  bool        `json:"disabled"`
	CreatedAt clock.Stamp `json:"createdAt"`
}

// OpenUsers opens the database that cfg names and brings it up to date.
func OpenUsers(ctx context.Context, cfg *Config) (*Users, error) {
	catalogue, err := cfg.Catalogue()
	if err != nil {
		return nil, err
	}
	d, err := openAdminDatabase(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, _, err := d.Migrate(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	accounts := account.NewRegistry(d, cfg.Account.Password.cost())
	return &Users{db: d, accounts: accounts, catalogue: catalogue, now: clock.System().Now()}, nil
}

// Close releases the database.
func (u *Users) Close() { _ = u.db.Close() }

// List gives at most limit accounts whose e-mail address holds search, newest first. A page goes on behind the account
// after, which may be empty; more tells whether another page follows.
func (u *Users) List(ctx context.Context, search, after string, limit int) (rows []UserRow, more bool, err error) {
	if after != "" {
		if _, err := id.Parse[id.Account](after); err != nil {
			return nil, false, fmt.Errorf("%q is not the identifier of an account: %w", after, err)
		}
	}
	all, err := u.accounts.List(ctx, search, id.Account(after), limit+1)
	if err != nil {
		return nil, false, err
	}
	rows = []UserRow{}
	for _, a := range all[:min(len(all), limit)] {
		rows = append(rows, u.row(a))
	}
	return rows, len(all) > limit, nil
}

// Show gives one account.
func (u *Users) Show(ctx context.Context, who string) (UserRow, error) {
	return u.changed(u.accounts.Find(ctx, who))
}

// SetPlan assigns a plan of the catalogue.
func (u *Users) SetPlan(ctx context.Context, who, code string) (UserRow, error) {
	if _, ok := u.catalogue.Plan(code); !ok {
		return UserRow{}, fmt.Errorf("there is no plan %q in the catalogue", code)
	}
	return u.changed(u.accounts.SetPlan(ctx, who, code))
}

// SetRole assigns a role: user or staff.
func (u *Users) SetRole(ctx context.Context, who, role string) (UserRow, error) {
	return u.changed(u.accounts.SetRole(ctx, who, account.Role(role)))
}

// SetDisabled shuts an account out and ends all its tokens, or lets it in again.
func (u *Users) SetDisabled(ctx context.Context, who string, disabled bool) (UserRow, error) {
	return u.changed(u.accounts.SetDisabled(ctx, who, disabled))
}

// ResetPassword replaces an account's password, by a random one where password is empty, and ends all its tokens; with
// endTwoFactor two-factor ends as well. It gives the new password.
func (u *Users) ResetPassword(ctx context.Context, who, password string, endTwoFactor bool) (string, UserRow, error) {
	fresh, a, err := u.accounts.ResetPassword(ctx, who, password, endTwoFactor)
	row, err := u.changed(a, err)
	return fresh, row, err
}

func (u *Users) changed(a *account.Account, err error) (UserRow, error) {
	if err != nil {
		return UserRow{}, err
	}
	return u.row(a), nil
}

func (u *Users) row(a *account.Account) UserRow {
	return UserRow{
		ID: a.ID, Email: a.Email, Locale: a.Locale, Plan: a.Plan, Role: string(a.Role), TwoFactor: string(a.TwoFactor(u.now)),
		Disabled: a.Disabled, CreatedAt: clock.Stamp{Time: a.CreatedAt},
	}
}
