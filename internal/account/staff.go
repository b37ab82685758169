package account

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Registry is the operator's access to accounts: what the operator's commands do. It needs none of the service's secrets.
type Registry struct {
	db        *db.DB
	passwords *passwords
}

// NewRegistry assembles a registry; c is the cost of the passwords that it resets.
func NewRegistry(d *db.DB, c Cost) *Registry { return &Registry{db: d, passwords: newPasswords(c)} }

// List gives at most limit accounts, newest first: those whose e-mail address holds search, which may be empty, and that are older
// than the account after, which may be empty as well.
func (r *Registry) List(ctx context.Context, search string, after id.Account, limit int) ([]*Account, error) {
	pattern := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(Fold(search)) + "%"
	return many(ctx, r.db, selectPage, after, pattern, limit)
}

// Find gives an account by its identifier or its e-mail address. The error says that there is none.
func (r *Registry) Find(ctx context.Context, who string) (*Account, error) {
	return find(ctx, r.db, who)
}

func find(ctx context.Context, q db.Queryer, who string) (*Account, error) {
	query, arg := selectByEmail, Fold(who)
	if account, err := id.Parse[id.Account](who); err == nil {
		query, arg = selectByID, string(account)
	}
	a, err := one(ctx, q, query, arg)
	if err == nil && a == nil {
		err = fmt.Errorf("there is no account %s", who)
	}
	return a, err
}

// SetPlan assigns a plan, whose code the caller has looked up in the catalogue.
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

// SetDisabled shuts an account out, which ends all its tokens, or lets it in again.
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

// ResetPassword replaces an account's password, which ends all its tokens. Where password is empty a random one is
// made; it returns the new one. With endTwoFactor signing in takes no code any more, for an owner who has lost both
// the authenticator and the recovery codes. Error: request.invalid.
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

// change runs fn on an account and returns it as it is then.
func (r *Registry) change(ctx context.Context, who string, fn func(context.Context, *db.Tx, *Account) error) (a *Account, err error) {
	err = r.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if a, err = find(ctx, tx, who); err != nil {
			return err
		}
		if err = fn(ctx, tx, a); err != nil {
			return fmt.Errorf("change account %s: %w", a.ID, err)
		}
		a, err = one(ctx, tx, selectByID, a.ID)
		return err
	})
	return a, err
}
