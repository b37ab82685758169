package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

const (
	// forgottenKind names the queue of requests for a new password, and the topic on which processes announce them.
	forgottenKind  = "password_forgotten"
	forgottenMax   = 4
	forgottenLease = time.Minute
	// forgottenEvery is how often an address is sent a link.
	forgottenEvery = 5 * time.Minute
)

// ForgottenKind is the topic on which processes announce requests for a new password.
const ForgottenKind = forgottenKind

// Forgot sends a link that sets a new password to the account with an e-mail address, if there is one, once in forgottenEvery. The
// call does the same work whether or not there is one: it stores a request, which RunForgotten looks at. Error: relay.missing.
func (s *Service) Forgot(ctx context.Context, email string) error {
	if err := s.CheckRelay(); err != nil {
		return err
	}
	d := s.attempts.limiter.Take(ratelimit.AccountMail, "reset "+Identity(email), ratelimit.Limit{{Count: 1, Per: forgottenEvery}}, 1)
	if !d.OK {
		return nil
	}
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		return s.forgotten.EnqueueTx(ctx, tx, job.New{Lane: Identity(email), Payload: Fold(email)})
	})
	if err != nil {
		return fmt.Errorf("store a request for a new password: %w", err)
	}
	return nil
}

// RunForgotten answers requests for a new password until ctx ends. It returns at once without a relay.
func (s *Service) RunForgotten(ctx context.Context) {
	if s.forgotten == nil {
		return
	}
	s.forgotten.Run(ctx, func(_ context.Context, j job.Job) job.Settle {
		return func(ctx context.Context, tx *db.Tx) (job.Verdict, error) {
			return job.Done(), s.sendResetTx(ctx, tx, j.Payload)
		}
	})
}

// WakeForgotten makes RunForgotten look for requests that another process has stored.
func (s *Service) WakeForgotten() {
	if s.forgotten != nil {
		s.forgotten.Wake()
	}
}

// ForgottenWorking reports whether RunForgotten is at work.
func (s *Service) ForgottenWorking() bool { return s.forgotten != nil && s.forgotten.Working() }

// sendResetTx sends a link to the account with an e-mail address, if there is one that can get mail.
func (s *Service) sendResetTx(ctx context.Context, tx *db.Tx, email string) error {
	a, err := getAccount(ctx, tx, selectByEmail, email)
	if err != nil || a == nil || a.Disabled {
		return err
	}
	to, ok := mailable(a.Email)
	if !ok {
		return nil
	}
	token := rand.Text()
	if _, err := tx.Exec(ctx, upsertCode, a.ID, passwordReset, resetHash(token), a.Email, s.clock.Now().Add(letterTTL).UnixMicro()); err != nil {
		return err
	}
	return s.sendTx(ctx, tx, letter{purpose: outbound.PasswordReset, account: a.ID, locale: a.Locale, to: to, code: token})
}

// resetHash returns the hash of the token in a link, which has 130 random bits, so that it needs no key.
func resetHash(token string) []byte {
	sum := sha256.Sum256([]byte(passwordReset + " " + token))
	return sum[:]
}

// CheckReset checks a new password and the token of a link without using it, before a hash is computed. A token that is wrong, was
// used or has expired gives the same error. Errors: relay.missing, request.invalid, account.code_invalid.
func (s *Service) CheckReset(ctx context.Context, token, password string) error {
	if err := s.CheckRelay(); err != nil {
		return err
	}
	if err := checkPassword(password); err != nil {
		return err
	}
	_, err := s.resetOf(ctx, s.db, token)
	return err
}

// resetOf returns the account of a valid token. Error: account.code_invalid.
func (s *Service) resetOf(ctx context.Context, q db.Queryer, token string) (*Account, error) {
	sent, err := getCode(ctx, q, selectCodeByHash, resetHash(token), passwordReset)
	if err != nil {
		return nil, err
	}
	if sent == nil || sent.expires <= s.clock.Now().UnixMicro() {
		return nil, problem.New(problem.AccountCodeInvalid)
	}
	a, err := getAccount(ctx, q, selectByID, sent.account)
	if err == nil && (a == nil || a.Disabled || a.Email != sent.email) {
		err = problem.New(problem.AccountCodeInvalid)
	}
	return a, err
}

// Reset sets the password of an account with the token of a link, ends its user tokens, and counts its address as confirmed, since
// the link was sent there. Two-factor authentication and keys stay. It waits for the slot's turn and releases the slot. Errors:
// request.invalid, account.code_invalid.
func (s *Service) Reset(ctx context.Context, slot *HashSlot, token, password string) error {
	if err := s.CheckReset(ctx, token, password); err != nil {
		return err
	}
	hash, err := s.passwords.hash(ctx, slot, password)
	if err != nil {
		return err
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, err := s.resetOf(ctx, tx, token)
		if err != nil {
			return err
		}
		if err := s.setPasswordTx(ctx, tx, a, hash); err != nil {
			return err
		}
		now := s.clock.Now()
		if _, err := tx.Exec(ctx, confirmOnce, a.ID, now.UnixMicro()); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, deleteTokens, a.ID); err != nil {
			return err
		}
		return audit.RecordTx(audit.As(ctx, string(a.ID)), tx, now, "account.reset-password", string(a.ID), "")
	})
	if err != nil {
		return fmt.Errorf("set a new password: %w", err)
	}
	return nil
}
