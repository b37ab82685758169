package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"math/big"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

const (
	confirmEmail  = "confirm_email" // this and the next are in the column purpose
	passwordReset = "password_reset"

	// codesPerAddress is how many confirmation codes are sent to an address in an hour, for all accounts together, so that a user cannot
	// flood the mailbox of another person.
	codesPerAddress = 5
)

// RequestEmail sends a code to an address, with which ConfirmEmail makes it the account's, and a notice to the address before. The
// address may be the one that the account has, which is then confirmed. It waits for the slot's turn and releases the slot.
//
// An address of another account is sent a code like any other, so that only its owner learns that it has one, from ConfirmEmail.
//
// Errors: relay.missing, request.invalid, account.password_wrong, rate.limited, auth.invalid_token.
func (s *Service) RequestEmail(ctx context.Context, slot *HashSlot, a *Account, password, email string) error {
	defer slot.Release()
	if err := s.CheckRelay(); err != nil {
		return err
	}
	email, err := parseEmail(email)
	if err != nil {
		return err
	}
	to, ok := mailable(email)
	if !ok {
		return problem.Invalid("/email", "must be an address that mail can be sent to, in ASCII and without special characters")
	}
	if err := s.checkPassword(ctx, slot, a, password); err != nil {
		return err
	}
	if err := s.countCode(to); err != nil {
		return err
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, err := s.stillTx(ctx, tx, a)
		if err != nil {
			return err
		}
		if err := s.sendCodeTx(ctx, tx, a, email, to); err != nil {
			return err
		}
		before, ok := mailable(a.Email)
		if !ok || a.Email == email {
			return nil
		}
		return s.sendTx(ctx, tx, letter{purpose: outbound.EmailChanged, account: a.ID, locale: a.Locale, to: before})
	})
	if err != nil {
		return fmt.Errorf("request another e-mail address: %w", err)
	}
	return nil
}

// countCode counts a confirmation code to an address. Error: rate.limited.
func (s *Service) countCode(to string) error {
	d := s.attempts.limiter.Take(ratelimit.AccountMail, "code "+Identity(to), ratelimit.Limit{{Count: codesPerAddress, Per: time.Hour}}, 1)
	if !d.OK {
		p := problem.Detailf(problem.RateLimited, "this address was sent %d codes in the last hour", codesPerAddress)
		p.RetryAfter = d.RetryAfter
		return p
	}
	return nil
}

// sendCodeTx stores a code for an address and sends it there. It replaces the one before.
func (s *Service) sendCodeTx(ctx context.Context, tx *db.Tx, a *Account, email, to string) error {
	code := newCode()
	now := s.clock.Now()
	if _, err := tx.Exec(ctx, upsertCode, a.ID, confirmEmail, s.codeHash(a, email, code), email, now.Add(letterTTL).UnixMicro()); err != nil {
		return err
	}
	return s.sendTx(ctx, tx, letter{purpose: outbound.ConfirmEmail, account: a.ID, locale: a.Locale, to: to, code: code})
}

// newCode returns six random digits.
func newCode() string {
	const codes = 1_000_000
	n, err := rand.Int(rand.Reader, big.NewInt(codes))
	if err != nil {
		panic(err) // crypto/rand does not fail, as it documents
	}
	return fmt.Sprintf("%06d", n)
}

// codeHash returns the hash of a confirmation code, under a key since the code is short. It is bound to the account and the address.
func (s *Service) codeHash(a *Account, email, code string) []byte {
	return s.recovery.hash(a.ID, confirmEmail+" "+email+" "+code)
}

// ConfirmEmail makes the address to which a code was sent the account's, and confirmed. It updates a. Wrong codes are limited like
// two-factor codes, and counted apart from them. Errors: relay.missing, account.code_invalid, account.email_taken, rate.limited.
func (s *Service) ConfirmEmail(ctx context.Context, a *Account, code string) error {
	if err := s.CheckRelay(); err != nil {
		return err
	}
	giveBack, err := s.attempts.takeFor("email " + string(a.ID))
	if err != nil {
		return err
	}
	var email string
	now := s.clock.Now().Truncate(time.Microsecond)
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		sent, err := getCode(ctx, tx, selectCode, a.ID, confirmEmail)
		if err != nil {
			return err
		}
		if sent == nil || sent.expires <= now.UnixMicro() || subtle.ConstantTimeCompare(sent.hash, s.codeHash(a, sent.email, normalizeCode(code))) == 0 {
			return problem.New(problem.AccountCodeInvalid)
		}
		email = sent.email
		if other, err := getAccount(ctx, tx, selectByEmail, email); err != nil {
			return err
		} else if other != nil && other.ID != a.ID {
			return problem.New(problem.AccountEmailTaken)
		}
		if _, err := tx.Exec(ctx, updateEmail, a.ID, email, now.UnixMicro()); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, deleteCodes, a.ID); err != nil { // also a link to the address before
			return err
		}
		return audit.RecordTx(audit.As(ctx, string(a.ID)), tx, now, "account.email", string(a.ID), "")
	})
	if err != nil {
		return fmt.Errorf("confirm an e-mail address: %w", err)
	}
	giveBack()
	a.Email, a.ConfirmedAt = email, now
	return nil
}

// mustConfirm reports whether accounts that register must confirm their address.
func (s *Service) mustConfirm() bool { return s.letters != nil && s.letters.Required }

// CheckConfirmed checks that an account may have keys, domains and webhooks: where the policy asks for it, its address must be
// confirmed, unless the operator made the account. Error: account.unconfirmed.
func (s *Service) CheckConfirmed(a *Account) error {
	if s.mustConfirm() && !a.provisioned && a.ConfirmedAt.IsZero() {
		return problem.Detailf(problem.AccountUnconfirmed, "confirm the e-mail address of the account with the code that was sent there")
	}
	return nil
}
