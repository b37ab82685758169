package account

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

// Credentials are what somebody presents to sign in (spec §2).
type Credentials struct {
	Email    string
	Password string
	Code     string // of two-factor, or a recovery code
}

// SignIn opens a session for whoever presents the right credentials. It returns a token, which is told this once, and what it opens.
// An unknown address, a wrong password, a wrong code and a disabled account are the same failure, after the same work. It waits for the slot's turn and releases the slot before it writes.
//
// Errors: auth.invalid_credentials; auth.totp_required, only once the password was right; rate.limited, after too many wrong codes.
func (s *Service) SignIn(ctx context.Context, slot *HashSlot, c Credentials) (credential string, _ *Session, err error) {
	a, err := one(ctx, s.db, selectByEmail, Fold(c.Email))
	if err != nil {
		return "", nil, err
	}
	kept := ""
	if a != nil {
		kept = a.password
	}
	right, renewed, err := s.passwords.check(ctx, slot, kept, c.Password)
	if err != nil {
		return "", nil, err
	}
	if !right {
		return "", nil, problem.New(problem.AuthInvalidCredentials)
	}
	var session *Session
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, err := s.stillTx(ctx, tx, a)
		if err != nil {
			return err
		}
		if err := s.secondFactorTx(ctx, tx, a, c.Code); err != nil {
			return err
		}
		if renewed != "" {
			if _, err := tx.Exec(ctx, renewPassword, a.ID, renewed); err != nil {
				return err
			}
		}
		credential, session, err = s.openTx(ctx, tx, a)
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("sign in: %w", err)
	}
	return credential, session, nil
}

// stillTx reads an account again inside the transaction: between the check of its password and now, the password may have been
// replaced and the account disabled.
func (s *Service) stillTx(ctx context.Context, tx *db.Tx, known *Account) (*Account, error) {
	a, err := one(ctx, tx, selectByID, known.ID)
	if err != nil {
		return nil, err
	}
	if a == nil || a.Disabled || a.epoch != known.epoch {
		return nil, problem.New(problem.AuthInvalidCredentials)
	}
	return a, nil
}

// secondFactorTx asks for a code where two-factor is on.
func (s *Service) secondFactorTx(ctx context.Context, tx *db.Tx, a *Account, code string) error {
	if a.TwoFactor(s.clock.Now()) != Active {
		return nil
	}
	code = plainCode(code)
	if code == "" {
		return problem.New(problem.AuthTOTPRequired)
	}
	right, err := s.acceptTx(ctx, tx, a, code)
	if err == nil && !right {
		err = problem.New(problem.AuthInvalidCredentials)
	}
	return err
}
