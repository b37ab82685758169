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

// TwoFactor says whether signing in takes a code.
type TwoFactor string

// The states of two-factor (spec §3).
const (
	Off     TwoFactor = "off"
	Pending TwoFactor = "pending" // set up and not confirmed: signing in takes no code yet
	Active  TwoFactor = "active"
)

// issuer is the name that authenticator apps show beside the address.
const issuer = "Gonebox"

// enrolment is what an account's row holds of two-factor.
type enrolment struct {
	sealed []byte // the secret; nil: none
	until  int64  // microseconds; 0 once it is confirmed
	spent  spent
}

// TwoFactor is the state at the given time: an enrolment that was not confirmed in time is none.
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

// Enrolment is a two-factor secret that waits to be confirmed. It is told this once.
type Enrolment struct {
	Secret    string // base32 (RFC 4648 §6) without padding, for typing
	URL       string // otpauth://totp/…, for a QR code
	ExpiresAt time.Time
}

// SetUp begins an enrolment; one that was pending is replaced. Error: totp.already_active.
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

// otpauth is the key URI that authenticator apps read from a QR code.
func otpauth(email, secret string) string {
	query := fmt.Sprintf("secret=%s&issuer=%s&algorithm=SHA1&digits=%d&period=%d", secret, issuer, totpDigits, totpPeriod)
	return "otpauth://totp/" + issuer + ":" + url.QueryEscape(email) + "?" + query // an address has no blanks, so the two escapes agree
}

// Confirm makes a pending enrolment active with a code of it, and returns the recovery codes, which are told this
// once. Errors: totp.not_pending, totp.invalid_code, rate.limited.
func (s *Service) Confirm(ctx context.Context, a *Account, code string) (recovery []string, err error) {
	err = s.change(ctx, a, func(ctx context.Context, tx *db.Tx, a *Account) error {
		if a.TwoFactor(s.clock.Now()) != Pending {
			return problem.New(problem.TOTPNotPending)
		}
		// A recovery code cannot confirm: there is none as yet.
		if err := s.demandTx(ctx, tx, a, code); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, updateConfirmed, a.ID); err != nil {
			return err
		}
		recovery, err = s.handOutTx(ctx, tx, a.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("confirm two-factor: %w", err)
	}
	return recovery, nil
}

// EndTwoFactor ends two-factor, with a code or a recovery code. Where it is not active no code is valid. Errors:
// totp.invalid_code, rate.limited.
func (s *Service) EndTwoFactor(ctx context.Context, a *Account, code string) error {
	err := s.change(ctx, a, func(ctx context.Context, tx *db.Tx, a *Account) error {
		if a.TwoFactor(s.clock.Now()) != Active {
			return problem.Detailf(problem.TOTPInvalidCode, "two-factor is not active")
		}
		if err := s.demandTx(ctx, tx, a, code); err != nil {
			return err
		}
		return endTwoFactorTx(ctx, tx, a)
	})
	if err != nil {
		return fmt.Errorf("end two-factor: %w", err)
	}
	return nil
}

func endTwoFactorTx(ctx context.Context, tx *db.Tx, a *Account) error {
	if _, err := tx.Exec(ctx, deleteRecoveryCodes, a.ID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, endTwoFactor, a.ID)
	return err
}

// change runs change on the account as it is stored now. Error: auth.invalid_token where it has just been disabled.
func (s *Service) change(ctx context.Context, known *Account, change func(context.Context, *db.Tx, *Account) error) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, err := one(ctx, tx, selectByID, known.ID)
		if err != nil {
			return err
		}
		if a == nil || a.Disabled {
			return problem.New(problem.AuthInvalidToken)
		}
		return change(ctx, tx, a)
	})
}

// demandTx is acceptTx for callers who are signed in. Errors: totp.invalid_code, rate.limited.
func (s *Service) demandTx(ctx context.Context, tx *db.Tx, a *Account, code string) error {
	right, err := s.acceptTx(ctx, tx, a, plainCode(code))
	if err == nil && !right {
		err = problem.New(problem.TOTPInvalidCode)
	}
	return err
}

// acceptTx tells whether a code, as plainCode leaves it, is right, and uses it up: the code of a time step, or a
// recovery code. Error: rate.limited.
func (s *Service) acceptTx(ctx context.Context, tx *db.Tx, a *Account, code string) (right bool, err error) {
	now, count := s.clock.Now(), func() {}
	if !tx.Again() { // one attempt, however often it is run
		if count, err = s.attempts.take(a.ID); err != nil {
			return false, err
		}
	}
	key, err := s.sealer.Open(a.totp.sealed, string(a.ID))
	if err != nil {
		return false, err
	}
	if spent, ok := a.totp.spent.accept(key, code, now); ok {
		right = true
		_, err = tx.Exec(ctx, updateSpent, a.ID, spent.last, spent.steps)
	} else {
		right, err = s.recoverTx(ctx, tx, a.ID, code)
	}
	if right {
		count()
	}
	return right, err
}

// TwoFactorState is what an owner is told of two-factor.
type TwoFactorState struct {
	Status        TwoFactor
	PendingUntil  time.Time // zero unless pending
	RecoveryCodes int       // not used yet
}

// TwoFactorState tells how an account's two-factor stands.
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
