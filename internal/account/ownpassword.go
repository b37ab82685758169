package account

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

// checkPassword checks the password of an account that is signed in. It waits for the slot's turn and releases the slot. Error:
// account.password_wrong.
func (s *Service) checkPassword(ctx context.Context, slot *HashSlot, a *Account, password string) error {
	right, _, err := s.passwords.check(ctx, slot, a.password, password)
	if err == nil && !right {
		err = problem.New(problem.AccountPasswordWrong)
	}
	return err
}

// stillTx reads an account again whose password was checked, and fails if the password was replaced or the account disabled since
// then. Error: auth.invalid_token.
func (s *Service) stillTx(ctx context.Context, tx *db.Tx, known *Account) (*Account, error) {
	a, err := getAccount(ctx, tx, selectByID, known.ID)
	if err != nil {
		return nil, err
	}
	if a == nil || a.Disabled || a.epoch != known.epoch {
		return nil, problem.New(problem.AuthInvalidToken)
	}
	return a, nil
}

// setPasswordTx stores the hash of another password. Links that set a password end, and calls that wait with a token learn of it.
func (s *Service) setPasswordTx(ctx context.Context, tx *db.Tx, a *Account, hash string) error {
	for _, set := range []struct {
		statement string
		args      []any
	}{
		{updatePassword, []any{a.ID, hash}}, {updateEnded, []any{a.ID, s.clock.Now().UnixMicro()}}, {deleteCode, []any{a.ID, passwordReset}},
	} {
		if _, err := tx.Exec(ctx, set.statement, set.args...); err != nil {
			return err
		}
	}
	return nil
}

// PasswordChange is the input of ChangePassword.
type PasswordChange struct {
	Current, New string
}

// Validate checks the new password, before a hash is computed. Error: request.invalid.
func (c PasswordChange) Validate() error { return checkPassword(c.New) }

// ChangePassword replaces the password of an account and ends all of its user tokens but that of the session. Keys stay. It waits for
// the slot's turn and releases the slot. Errors: request.invalid, account.password_wrong, auth.invalid_token.
func (s *Service) ChangePassword(ctx context.Context, slot *HashSlot, session *Session, c PasswordChange) error {
	if err := c.Validate(); err != nil {
		return err
	}
	a := session.Account
	right, hash, err := s.passwords.replace(ctx, slot, a.password, c.Current, c.New)
	if err == nil && !right {
		err = problem.New(problem.AccountPasswordWrong)
	}
	if err != nil {
		return err
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := s.stillTx(ctx, tx, a); err != nil {
			return err
		}
		if err := s.setPasswordTx(ctx, tx, a, hash); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, deleteOtherTokens, a.ID, session.hash[:]); err != nil {
			return err
		}
		return audit.RecordTx(audit.As(ctx, string(a.ID)), tx, s.clock.Now(), "account.password", string(a.ID), "")
	})
	if err != nil {
		return fmt.Errorf("change a password: %w", err)
	}
	return nil
}
