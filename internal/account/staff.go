package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Registry implements the operator's commands on accounts. It needs none of the service's secrets.
//
// Every change is recorded in the audit log in its own transaction, if the context has an actor (audit.As). A Registry is safe for concurrent
// use. It has its own gate for hashes, apart from that of a Service in the same process.
type Registry struct {
	db        *db.DB
	clock     clock.Clock
	passwords *passwords
	planKnown func(code string) bool
	// end is the parameter endTx of NewRegistry.
	end func(ctx context.Context, tx *db.Tx, account id.Account) error
}

// NewRegistry returns a Registry; cost is that of the passwords that it resets. planKnown reports whether the catalogue
// has a plan that can be assigned. endTx ends the credentials of an account that other packages store. endTx must only
// write in the transaction it is given, since it runs again after a conflict.
func NewRegistry(
	d *db.DB, c clock.Clock, cost Cost, planKnown func(code string) bool, endTx func(context.Context, *db.Tx, id.Account) error,
) *Registry {
	return &Registry{db: d, clock: c, passwords: newPasswords(cost, c), planKnown: planKnown, end: endTx}
}

// endTx ends every credential of an account: user tokens, developer keys and the tokens of its mailboxes
// (docs/spec/accounts.md#the-end-of-an-account). The time is stored for Ended, by which other processes learn of it.
func (r *Registry) endTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	if _, err := tx.Exec(ctx, deleteTokens, account); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, updateEnded, account, r.clock.Now().UnixMicro()); err != nil {
		return err
	}
	return r.end(ctx, tx, account)
}

// Ended returns at most max accounts whose credentials were ended after a time. The newest come first. Processes poll
// it to end calls that wait with a credential of such an account.
func (r *Registry) Ended(ctx context.Context, after time.Time, max int) ([]id.Account, error) {
	all, err := db.Collect(ctx, r.db, scanID, selectEnded, after.UnixMicro(), max)
	if err != nil {
		return nil, fmt.Errorf("list accounts that ended: %w", err)
	}
	return all, nil
}

// List returns at most limit accounts, newest first, whose e-mail address contains search. If after is not empty they
// are older than that account. An empty search matches every account. The search reads all accounts, which is
// acceptable for staff and not for clients.
func (r *Registry) List(ctx context.Context, search string, after id.Account, limit int) ([]*Account, error) {
	pattern := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(Fold(search)) + "%"
	return listAccounts(ctx, r.db, selectPage, after, pattern, limit)
}

// Find returns an account by its identifier or its e-mail address. The case of an address does not matter. Error:
// account.not_found.
func (r *Registry) Find(ctx context.Context, who string) (*Account, error) {
	return find(ctx, r.db, who)
}

// find is Registry.Find on a database or in a transaction. Error: account.not_found.
func find(ctx context.Context, q db.Queryer, who string) (*Account, error) {
	a, err := lookUp(ctx, q, who)
	if err == nil && a == nil {
		err = problem.Detailf(problem.AccountNotFound, "there is no account %s", who)
	}
	return a, err
}

// LookUp returns the account with an e-mail address or identifier, or nil.
func (r *Registry) LookUp(ctx context.Context, who string) (*Account, error) {
	return lookUp(ctx, r.db, who)
}

// lookUp returns nil without an error if there is no account. An identifier cannot be an e-mail address, which has an
// @.
func lookUp(ctx context.Context, q db.Queryer, who string) (*Account, error) {
	query, arg := selectByEmail, Fold(who)
	if account, err := id.Parse[id.Account](who); err == nil {
		query, arg = selectByID, string(account)
	}
	return getAccount(ctx, q, query, arg)
}

// SetPlan assigns a plan. Errors: request.invalid, account.not_found.
func (r *Registry) SetPlan(ctx context.Context, who, plan string) (*Account, error) {
	return r.Change(ctx, who, Change{Plan: &plan})
}

// checkPlan checks that the catalogue has a plan. Error: request.invalid.
func (r *Registry) checkPlan(code string) error {
	if !r.planKnown(code) {
		return problem.Invalid("/plan", "%q is not in the catalogue", code)
	}
	return nil
}

// checkRole checks that a role exists. Error: request.invalid.
func checkRole(role Role) error {
	if role != User && role != Staff {
		return problem.Invalid("/role", "must be %s or %s", User, Staff)
	}
	return nil
}

// SetRole assigns a role. Errors: request.invalid, account.not_found.
func (r *Registry) SetRole(ctx context.Context, who string, role Role) (*Account, error) {
	return r.Change(ctx, who, Change{Role: &role})
}

// SetDisabled disables an account, which ends every credential of it, or enables it. Error: account.not_found.
func (r *Registry) SetDisabled(ctx context.Context, who string, disabled bool) (*Account, error) {
	return r.Change(ctx, who, Change{Disabled: &disabled})
}

// Change is what staff may change of an account. Nil fields stay as they are.
type Change struct {
	Plan     *string
	Role     *Role
	Disabled *bool
}

// Change changes an account, all or nothing. Disabling it ends every credential of it. Errors: request.invalid,
// account.not_found.
func (r *Registry) Change(ctx context.Context, who string, c Change) (*Account, error) {
	var errs []error
	if c.Plan != nil {
		errs = append(errs, r.checkPlan(*c.Plan))
	}
	if c.Role != nil {
		errs = append(errs, checkRole(*c.Role))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return r.change(ctx, who, func(ctx context.Context, tx *db.Tx, a *Account) error {
		if c.Plan != nil {
			if err := r.setTx(ctx, tx, a, updatePlan, *c.Plan, "user.set-plan", *c.Plan); err != nil {
				return err
			}
		}
		if c.Role != nil {
			if err := r.setTx(ctx, tx, a, updateRole, *c.Role, "user.set-role", string(*c.Role)); err != nil {
				return err
			}
		}
		if c.Disabled == nil {
			return nil
		}
		return r.setDisabledTx(ctx, tx, a, *c.Disabled)
	})
}

// setTx sets one column and records it. $2 of the statement is the value. action and detail are written to the audit
// log.
func (r *Registry) setTx(ctx context.Context, tx *db.Tx, a *Account, statement string, value any, action, detail string) error {
	if _, err := tx.Exec(ctx, statement, a.ID, value); err != nil {
		return err
	}
	return audit.RecordTx(ctx, tx, r.clock.Now(), action, string(a.ID), detail)
}

// setDisabledTx disables or enables an account. Enabling restores none of the credentials that disabling ended.
func (r *Registry) setDisabledTx(ctx context.Context, tx *db.Tx, a *Account, disabled bool) error {
	if !disabled {
		return r.setTx(ctx, tx, a, updateDisabled, 0, "user.enable", "")
	}
	if err := r.endTx(ctx, tx, a.ID); err != nil {
		return err
	}
	return r.setTx(ctx, tx, a, updateDisabled, 1, "user.disable", "")
}

// ResetPassword replaces an account's password, ends every credential of it and returns the new password, which is
// random if password is empty. With endTwoFactor it also turns two-factor off, for an owner who lost both the
// authenticator and the recovery codes. The hash is computed before the transaction, since it takes long. Errors:
// account.not_found, request.invalid.
func (r *Registry) ResetPassword(ctx context.Context, who, password string, endTwoFactor bool) (string, *Account, error) {
	if password == "" {
		password = rand.Text()
	}
	if err := checkPassword(password); err != nil {
		return "", nil, err
	}
	hash, err := r.hash(ctx, password)
	if err != nil {
		return "", nil, err
	}
	detail := ""
	if endTwoFactor {
		detail = "two-factor authentication turned off"
	}
	a, err := r.change(ctx, who, func(ctx context.Context, tx *db.Tx, a *Account) error {
		if endTwoFactor {
			if err := endTwoFactorTx(ctx, tx, a); err != nil {
				return err
			}
		}
		if err := r.endTx(ctx, tx, a.ID); err != nil {
			return err
		}
		return r.setTx(ctx, tx, a, updatePassword, hash, "user.reset-password", detail)
	})
	return password, a, err
}

// change runs fn on an account in a transaction and returns the changed account. fn may run several times
// (db.DB.Update). Error: account.not_found.
func (r *Registry) change(ctx context.Context, who string, fn func(context.Context, *db.Tx, *Account) error) (a *Account, err error) {
	err = r.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if a, err = find(ctx, tx, who); err != nil {
			return err
		}
		if err = fn(ctx, tx, a); err != nil {
			return fmt.Errorf("change account %s: %w", a.ID, err)
		}
		a, err = getAccount(ctx, tx, selectByID, a.ID)
		return err
	})
	return a, err
}
