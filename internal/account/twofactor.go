package account

import (
	"context"
	"encoding/base32"
	"fmt"
	"net/url"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

// TwoFactor is the state of two-factor authentication.
type TwoFactor string

// The states of two-factor authentication (docs/spec/accounts.md#two-factor-authentication).
const (
	Off     TwoFactor = "off"
	Pending TwoFactor = "pending" // set up but not confirmed: signing in needs no code yet
	Active  TwoFactor = "active"
)

// issuer is the name that authenticator apps show next to the address.
const issuer = "Gonebox"

// enrolment is the two-factor part of an account's row. A secret exists from SetUp on; until decides whether it is in
// force.
type enrolment struct {
	sealed []byte // the encrypted secret; nil: none
	until  int64  // expiry in microseconds; 0 once it is confirmed
	used   usedSteps
}

// TwoFactor returns the state at a time. An enrolment that was not confirmed in time counts as Off. Its secret is
// deleted later, by Sweep.
func (a *Account) TwoFactor(now time.Time) TwoFactor {
	switch {
	case a.totp.sealed == nil:
		return Off
	case a.totp.until == 0:
		return Active
	case now.UnixMicro() < a.totp.until:
		return Pending
	}
	return Off
}

// Enrolment is a two-factor secret that must be confirmed. It is shown to the owner only once. The secret is 20 random
// octets.
type Enrolment struct {
	Secret    string // base32 (RFC 4648 §6) without padding, for typing
	URL       string // otpauth://totp/…, for a QR code
	ExpiresAt time.Time
}

// SetUp starts an enrolment and replaces a pending one.
//
// The secret is sealed together with the account's identifier, so that a row copied to another account cannot be
// decrypted there. Errors: totp.already_active; auth.invalid_token, if the account was disabled.
func (s *Service) SetUp(ctx context.Context, a *Account) (*Enrolment, error) {
	secret := random(totpKeyLen)
	until := s.clock.Now().Add(s.policy.TOTPPending).Truncate(time.Microsecond)
	err := s.change(ctx, a, func(ctx context.Context, tx *db.Tx, a *Account) error {
		if a.TwoFactor(s.clock.Now()) == Active {
			return problem.New(problem.TOTPAlreadyActive)
		}
		_, err := tx.Exec(ctx, updateEnrolment, a.ID, s.sealer.Seal(secret, string(a.ID)), until.UnixMicro())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("set up two-factor: %w", err)
	}
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
	return &Enrolment{Secret: text, URL: otpauth(a.Email, text), ExpiresAt: until}, nil
}

// otpauth returns the key URI that authenticator apps read from a QR code. The format is not an RFC but that of Google
// Authenticator, which all apps read.
func otpauth(email, secret string) string {
	query := fmt.Sprintf("secret=%s&issuer=%s&algorithm=SHA1&digits=%d&period=%d", secret, issuer, totpDigits, totpPeriod)
	return "otpauth://totp/" + issuer + ":" + url.QueryEscape(email) + "?" + query // an address has no spaces, so that the escapes of queries and paths agree
}

// Confirm activates a pending enrolment with one of its codes, and returns the recovery codes, of which only hashes are
// stored. A code proves that the app has the secret, before the account depends on it. The code is used up. Errors:
// totp.not_pending, totp.invalid_code, rate.limited; auth.invalid_token, if the account was disabled.
func (s *Service) Confirm(ctx context.Context, a *Account, code string) (recovery []string, err error) {
	err = s.change(ctx, a, func(ctx context.Context, tx *db.Tx, a *Account) error {
		if a.TwoFactor(s.clock.Now()) != Pending {
			return problem.New(problem.TOTPNotPending)
		}
		// There are no recovery codes yet that could confirm it.
		if err := s.requireCodeTx(ctx, tx, a, code); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, updateConfirmed, a.ID); err != nil {
			return err
		}
		recovery, err = s.replaceRecoveryCodesTx(ctx, tx, a.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("confirm two-factor: %w", err)
	}
	return recovery, nil
}

// EndTwoFactor turns two-factor off, with a code or a recovery code. While it is not active no code is valid. It
// deletes the secret and the recovery codes. Errors: totp.invalid_code, rate.limited; auth.invalid_token, if the
// account was disabled.
func (s *Service) EndTwoFactor(ctx context.Context, a *Account, code string) error {
	err := s.change(ctx, a, func(ctx context.Context, tx *db.Tx, a *Account) error {
		if a.TwoFactor(s.clock.Now()) != Active {
			return problem.Detailf(problem.TOTPInvalidCode, "two-factor is not active")
		}
		if err := s.requireCodeTx(ctx, tx, a, code); err != nil {
			return err
		}
		return endTwoFactorTx(ctx, tx, a)
	})
	if err != nil {
		return fmt.Errorf("end two-factor: %w", err)
	}
	return nil
}

// endTwoFactorTx deletes an account's recovery codes, secret and used steps, whatever its state.
func endTwoFactorTx(ctx context.Context, tx *db.Tx, a *Account) error {
	if _, err := tx.Exec(ctx, deleteRecoveryCodes, a.ID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, endTwoFactor, a.ID)
	return err
}

// change runs change on the stored account in a transaction. change gets the row as it is now, not the one that was
// read when the call was authorized. Error: auth.invalid_token, if the account was disabled.
func (s *Service) change(ctx context.Context, known *Account, change func(context.Context, *db.Tx, *Account) error) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, err := getAccount(ctx, tx, selectByID, known.ID)
		if err != nil {
			return err
		}
		if a == nil || a.Disabled {
			return problem.New(problem.AuthInvalidToken)
		}
		return change(ctx, tx, a)
	})
}

// requireCodeTx is useCodeTx for callers that are signed in. Errors: totp.invalid_code, rate.limited.
func (s *Service) requireCodeTx(ctx context.Context, tx *db.Tx, a *Account, code string) error {
	right, err := s.useCodeTx(ctx, tx, a, normalizeCode(code))
	if err == nil && !right {
		err = problem.New(problem.TOTPInvalidCode)
	}
	return err
}

// useCodeTx reports whether a normalized code is right, and uses it up: the code of a time step, or a recovery code.
//
// An attempt is counted before the check and given back if the code is right, so that many calls at once cannot try
// more codes than the limit allows. The caller's transaction stores the use: if it is rolled back, the code can be used
// again. Error: rate.limited.
func (s *Service) useCodeTx(ctx context.Context, tx *db.Tx, a *Account, code string) (right bool, err error) {
	now, giveBack := s.clock.Now(), func() {}
	if !tx.Again() { // a transaction that is run again is one attempt
		if giveBack, err = s.attempts.take(a.ID); err != nil {
			return false, err
		}
	}
	key, err := s.sealer.Open(a.totp.sealed, string(a.ID))
	if err != nil {
		return false, err
	}
	if used, ok := a.totp.used.accept(key, code, now); ok {
		right = true
		_, err = tx.Exec(ctx, updateSpent, a.ID, used.last, used.bits)
	} else {
		right, err = s.useRecoveryCodeTx(ctx, tx, a.ID, code)
	}
	if right {
		giveBack()
	}
	return right, err
}

// TwoFactorState is the state of two-factor as its owner sees it. The secret and the codes are not part of it, since
// they are shown only once.
type TwoFactorState struct {
	Status        TwoFactor
	PendingUntil  time.Time // zero unless pending
	RecoveryCodes int       // unused ones
}

// TwoFactorState returns the state of an account's two-factor. It uses the account as the caller read it, and counts
// the recovery codes that are left.
func (s *Service) TwoFactorState(ctx context.Context, a *Account) (TwoFactorState, error) {
	state := TwoFactorState{Status: a.TwoFactor(s.clock.Now())}
	switch state.Status {
	case Pending:
		state.PendingUntil = time.UnixMicro(a.totp.until).UTC()
	case Active:
		if err := s.db.QueryRow(ctx, countRecoveryCodes, a.ID).Scan(&state.RecoveryCodes); err != nil {
			return TwoFactorState{}, fmt.Errorf("count recovery codes: %w", err)
		}
	}
	return state, nil
}
