package account

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Registration is the input of Register. Register checks it; nothing is trimmed, since a space is part of a password.
type Registration struct {
	Email    string // folded by Register
	Password string
	Locale   *string // nil: en
	Client   Client
	Invite   string // the code of an invitation; needed where the policy is RegistrationInvite
}

// Validate checks the fields of a registration, as Register does. It lets a handler reject a request before it reserves
// a HashSlot. Error: request.invalid.
func (r Registration) Validate() error {
	_, err := r.account()
	return err
}

// Register creates an account and opens a session. It returns the user token, of which only a hash is stored, and the
// session. It waits for the slot's turn and releases the slot before it writes.
//
// Cheap checks come before the hash: the policy, the invitation, whether the address is taken. They are repeated in the
// transaction, because another call may register the address or use the invitation meanwhile. Errors: request.invalid,
// access.closed, account.email_taken.
func (s *Service) Register(ctx context.Context, slot *HashSlot, r Registration) (credential string, _ *Session, err error) {
	a, err := r.account()
	if err != nil {
		return "", nil, err
	}
	now := s.clock.Now()
	// The database stores microseconds; truncating makes this account equal to the one that is read later.
	a.ID, a.CreatedAt = id.New[id.Account](now), now.Truncate(time.Microsecond)
	if err := s.admit(ctx, r.Invite, now); err != nil {
		return "", nil, err
	}
	to, ok := mailable(a.Email)
	if s.mustConfirm() && !ok {
		return "", nil, problem.Invalid("/email", "must be an address that mail can be sent to, in ASCII and without special characters")
	}
	if taken, err := getAccount(ctx, s.db, selectByEmail, a.Email); err != nil {
		return "", nil, err
	} else if taken != nil {
		return "", nil, problem.New(problem.AccountEmailTaken) // saves the work of a hash
	}
	if a.password, err = s.passwords.hash(ctx, slot, r.Password); err != nil {
		return "", nil, err
	}
	var session *Session
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, insertAccount, a.ID, a.Email, a.Locale, a.Role, a.Plan, a.CreatedAt.UnixMicro(), a.password, 0)
		if err != nil {
			return err
		}
		if n == 0 { // a concurrent call registered the address
			return problem.New(problem.AccountEmailTaken)
		}
		if err := s.useInviteTx(ctx, tx, r.Invite, a); err != nil {
			return err
		}
		if s.mustConfirm() {
			if err := s.sendCodeTx(ctx, tx, a, a.Email, to); err != nil {
				return err
			}
		}
		credential, session, err = s.openSessionTx(ctx, tx, a, r.Client)
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("register: %w", err)
	}
	return credential, session, nil
}

// account checks a registration and returns the account to create, without its identifier and password. Errors:
// request.invalid.
func (r Registration) account() (a *Account, err error) {
	a = &Account{Locale: defaultLocale, Role: User, Plan: defaultPlan, epoch: 1}
	if a.Email, err = parseEmail(r.Email); err != nil {
		return nil, err
	}
	if err := checkPassword(r.Password); err != nil {
		return nil, err
	}
	if r.Locale != nil {
		a.Locale, err = parseLocale(*r.Locale)
	}
	return a, err
}
