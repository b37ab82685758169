package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Provision is an account that the operator creates.
type Provision struct {
	Email    string
	Password string // "": a random one
	Locked   bool   // no password signs in until one is set; takes no hash, and Password must be ""
	Plan     string // "": the free one
	Role     Role   // "": user
}

// Add creates an account and returns it with its password. It needs no invitation. The locale is the default. A random
// password is returned this once and cannot be read later; a locked account has none. Errors: request.invalid,
// account.email_taken.
func (r *Registry) Add(ctx context.Context, p Provision) (password string, _ *Account, err error) {
	if password = p.Password; password == "" {
		password = rand.Text()
	}
	a, err := Registration{Email: p.Email, Password: password}.account()
	if err != nil {
		return "", nil, err
	}
	if p.Plan != "" {
		a.Plan = p.Plan
	}
	if p.Role != "" {
		a.Role = p.Role
	}
	if err := errors.Join(r.checkPlan(a.Plan), checkRole(a.Role)); err != nil {
		return "", nil, err
	}
	now := r.clock.Now()
	a.ID, a.CreatedAt = id.New[id.Account](now), now.Truncate(time.Microsecond)
	if p.Locked {
		password, a.password = "", r.passwords.locked()
	} else if a.password, err = r.hash(ctx, password); err != nil {
		return "", nil, err
	}
	err = r.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, insertAccount, a.ID, a.Email, a.Locale, a.Role, a.Plan, a.CreatedAt.UnixMicro(), a.password, 1)
		if err == nil && n == 0 {
			err = problem.New(problem.AccountEmailTaken)
		}
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, now, "user.add", string(a.ID), "plan "+a.Plan+", role "+string(a.Role))
	})
	if err != nil {
		return "", nil, fmt.Errorf("add an account: %w", err)
	}
	return password, a, nil
}

// hash returns the PHC string of a password that the operator sets.
func (r *Registry) hash(ctx context.Context, password string) (string, error) {
	slot, err := r.passwords.gate.reserve("")
	if err != nil {
		return "", err
	}
	return r.passwords.hash(ctx, slot, password)
}

// OpenSession creates a user token for an account without its password, for the operator's commands. End ends it. It
// checks neither a code nor whether the account is disabled, in which case Authorize rejects the token.
func (s *Service) OpenSession(ctx context.Context, a *Account) (credential string, session *Session, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		credential, session, err = s.openSessionTx(ctx, tx, a, Client{})
		return err
	})
	return credential, session, err
}
