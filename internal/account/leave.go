package account

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Eraser erases what other packages store of an account that leaves, in the transaction that deletes it. addresses are the e-mail
// addresses under which mail to the account was recorded. It must only write in the transaction it is given, since it runs again
// after a conflict.
type Eraser func(ctx context.Context, tx *db.Tx, account id.Account, addresses []string) error

// EraseBy sets the eraser. It must be called before Leave.
func (s *Service) EraseBy(e Eraser) { s.erase = e }

// recentSignIn is how long a sign-in stands for the password of an account that has none.
const recentSignIn = 10 * time.Minute

// HasPassword reports whether an account has a password; one that an issuer vouches for may have none.
func (a *Account) HasPassword() bool { return a.password != "" }

// Leave deletes the account of a session, whose password must be given (or who signed in within recentSignIn, where it has none), and a code where two-factor authentication is active. Its
// credentials end at once, and all that is stored about it is erased, but for the row with its identifier, to which the ledger, orders
// and the audit log refer. It waits for the slot's turn and releases the slot. Errors: account.password_wrong, totp.invalid_code,
// rate.limited, auth.invalid_token.
func (s *Service) Leave(ctx context.Context, slot *HashSlot, session *Session, password, code string) error {
	if session.Account.HasPassword() {
		if err := s.checkPassword(ctx, slot, session.Account, password); err != nil {
			return err
		}
	} else if s.clock.Now().Sub(session.createdAt) > recentSignIn {
		return problem.Detailf(problem.AccountPasswordWrong, "the account has no password: sign in again, and delete it within %d minutes", int(recentSignIn.Minutes()))
	}
	locked := s.passwords.locked()
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, err := s.stillTx(ctx, tx, session.Account)
		if err != nil {
			return err
		}
		if err := s.checkLeaveTx(ctx, tx, a, code); err != nil {
			return err
		}
		addresses := []string{a.Email}
		if to, ok := mailable(a.Email); ok && to != a.Email {
			addresses = append(addresses, strings.ToLower(to))
		}
		if err := s.erase(ctx, tx, a.ID, addresses); err != nil {
			return err
		}
		for _, statement := range []string{deleteTokens, deleteRecoveryCodes, deleteCodes, deleteLinks, deleteSteps, eraseInviteNotes} {
			if _, err := tx.Exec(ctx, statement, a.ID); err != nil {
				return err
			}
		}
		now := s.clock.Now()
		if _, err := tx.Exec(ctx, eraseAccount, a.ID, locked, now.UnixMicro()); err != nil {
			return err
		}
		return audit.RecordTx(audit.As(ctx, string(a.ID)), tx, now, "account.delete", string(a.ID), "")
	})
	if err != nil {
		return fmt.Errorf("delete account %s: %w", session.Account.ID, err)
	}
	return nil
}

// checkLeaveTx checks the two-factor code of an account that leaves. Errors: totp.invalid_code, rate.limited.
func (s *Service) checkLeaveTx(ctx context.Context, tx *db.Tx, a *Account, code string) error {
	if a.TwoFactor(s.clock.Now()) != Active {
		return nil
	}
	right := false
	var err error
	if code = normalizeCode(code); code != "" {
		right, err = s.useCodeTx(ctx, tx, a, code)
	}
	if err == nil && !right {
		err = problem.Detailf(problem.TOTPInvalidCode, "two-factor authentication is active: code must be a current code or a recovery code")
	}
	return err
}
