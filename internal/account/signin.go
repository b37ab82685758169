package account

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

// Credentials are the input of SignIn. None of the fields has been checked.
type Credentials struct {
	Email    string // folded by SignIn
	Password string
	Client   Client
	Code     string // a two-factor code or a recovery code; may be empty
}

// SignIn checks credentials and opens a session. It returns the user token, of which only a hash is stored, and the
// session. An unknown address, a wrong password, a wrong code and a disabled account give the same error after the same
// work. It waits for the slot's turn and releases the slot before it writes.
//
// The password is checked outside the transaction, since a hash takes longer than other writers may be blocked. The
// caller counts attempts by address and account before it calls SignIn; only wrong codes are counted here. Errors:
// auth.invalid_credentials; auth.totp_required, only if the password is right; rate.limited, after too many wrong
// codes.
func (s *Service) SignIn(ctx context.Context, slot *HashSlot, c Credentials) (credential string, _ *Session, err error) {
	a, err := getAccount(ctx, s.db, selectByEmail, Fold(c.Email))
	if err != nil {
		return "", nil, err
	}
	stored := ""
	if a != nil {
		stored = a.password
	}
	right, renewed, err := s.passwords.check(ctx, slot, stored, c.Password)
	if err != nil {
		return "", nil, err
	}
	if !right {
		return "", nil, problem.New(problem.AuthInvalidCredentials)
	}
	var session *Session
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		// a of the enclosing function stays as it was read before the hash: a second run of the closure compares with
		// it again.
		a, err := s.reloadTx(ctx, tx, a)
		if err != nil {
			return err
		}
		if err := s.checkSecondFactorTx(ctx, tx, a, c.Code); err != nil {
			return err
		}
		// The epoch stays the same: it is the same password, so no session ends.
		if renewed != "" {
			if _, err := tx.Exec(ctx, renewPassword, a.ID, renewed); err != nil {
				return err
			}
		}
		credential, session, err = s.openSessionTx(ctx, tx, a, c.Client)
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("sign in: %w", err)
	}
	return credential, session, nil
}

// reloadTx reads an account again inside the transaction: since its password was checked, the password may have been
// reset and the account disabled. A disabled account gives the error of a wrong password, as an unknown address does.
// Error: auth.invalid_credentials.
func (s *Service) reloadTx(ctx context.Context, tx *db.Tx, known *Account) (*Account, error) {
	a, err := getAccount(ctx, tx, selectByID, known.ID)
	if err != nil {
		return nil, err
	}
	if a == nil || a.Disabled || a.epoch != known.epoch {
		return nil, problem.New(problem.AuthInvalidCredentials)
	}
	return a, nil
}

// checkSecondFactorTx checks the code if two-factor is active. Errors: auth.totp_required, auth.invalid_credentials,
// rate.limited.
func (s *Service) checkSecondFactorTx(ctx context.Context, tx *db.Tx, a *Account, code string) error {
	if a.TwoFactor(s.clock.Now()) != Active {
		return nil
	}
	code = normalizeCode(code)
	if code == "" {
		return problem.New(problem.AuthTOTPRequired)
	}
	right, err := s.useCodeTx(ctx, tx, a, code)
	if err == nil && !right {
		err = problem.New(problem.AuthInvalidCredentials)
	}
	return err
}
