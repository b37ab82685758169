package account

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Registry implements the operator's commands on accounts. It needs none of the service's secrets.
type Registry struct {
	db        *db.DB
	passwords *passwords
}

// NewRegistry returns a Registry; c is the cost of the passwords that it resets.
func NewRegistry(d *db.DB, c Cost) *Registry { return &Registry{db: d, passwords: newPasswords(c)} }

// List returns at most limit accounts, newest first, whose e-mail address contains search. If after is not empty they are
// older than that account.
func (r *Registry) List(ctx context.Context, search string, after id.Account, limit int) ([]*Account, error) {
	pattern := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(Fold(search)) + "%"
	return listAccounts(ctx, r.db, selectPage, after, pattern, limit)
}

// Find returns an account by its identifier or its e-mail address. It is an error if there is none.
func (r *Registry) Find(ctx context.Context, who string) (*Account, error) {
	return find(ctx, r.db, who)
}

func find(ctx context.Context, q db.Queryer, who string) (*Account, error) {
	a, err := lookUp(ctx, q, who)
	if err == nil && a == nil {
		err = fmt.Errorf("there is no account %s", who)
	}
	return a, err
}

// LookUp returns the account with an e-mail address or identifier, or nil.
func (r *Registry) LookUp(ctx context.Context, who string) (*Account, error) {
	return lookUp(ctx, r.db, who)
}

func lookUp(ctx context.Context, q db.Queryer, who string) (*Account, error) {
	query, arg := selectByEmail, Fold(who)
	if account, err := id.Parse[id.Account](who); err == nil {
		query, arg = selectByID, string(account)
	}
	return getAccount(ctx, q, query, arg)
}

// SetPlan assigns a plan. The caller has checked that the catalogue has its code.
func (r *Registry) SetPlan(ctx context.Context, who, plan string) (*Account, error) {
	return r.change(ctx, who, func(ctx context.Context, tx *db.Tx, a *Account) error {
		_, err := tx.Exec(ctx, updatePlan, a.ID, plan)
		return err
	})
}

// SetRole assigns a role.
func (r *Registry) SetRole(ctx context.Context, who string, role Role) (*Account, error) {
	return r.change(ctx, who, func(ctx context.Context, tx *db.Tx, a *Account) error {
		_, err := tx.Exec(ctx, updateRole, a.ID, role)
		return err
	})
}

// SetDisabled disables an account, which deletes all its user tokens, or enables it.
func (r *Registry) SetDisabled(ctx context.Context, who string, disabled bool) (*Account, error) {
	return r.change(ctx, who, func(ctx context.Context, tx *db.Tx, a *Account) error {
		flag := 0
		if disabled {
			flag = 1
			if _, err := tx.Exec(ctx, deleteTokens, a.ID); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, updateDisabled, a.ID, flag)
		return err
	})
}

// ResetPassword replaces an account's password, deletes all its user tokens and returns the new password, which is random if
// password is empty. With endTwoFactor it also turns two-factor off, for an owner who lost both the authenticator and the
// recovery codes. Error: request.invalid.
func (r *Registry) ResetPassword(ctx context.Context, who, password string, endTwoFactor bool) (string, *Account, error) {
	if password == "" {
		password = rand.Text()
	}
	if err := checkPassword(password); err != nil {
		return "", nil, err
	}
	slot, err := r.passwords.gate.reserve("")
	if err != nil {
		return "", nil, err
	}
	hash, err := r.passwords.hash(ctx, slot, password)
	if err != nil {
		return "", nil, err
	}
	a, err := r.change(ctx, who, func(ctx context.Context, tx *db.Tx, a *Account) error {
		if endTwoFactor {
			if err := endTwoFactorTx(ctx, tx, a); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, deleteTokens, a.ID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, updatePassword, a.ID, hash)
		return err
	})
	return password, a, err
}

// change runs fn on an account in a transaction and returns the changed account.
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
