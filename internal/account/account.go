// Package account implements registration, sign-in, two-factor authentication, user tokens, and the operator's changes of
// accounts (docs/spec/accounts.md). It does not depend on what an account owns or what its plan entitles it to.
package account

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/token"
)

// Role is what an account may do besides using the service.
type Role string

// The roles.
const (
	User  Role = "user"
	Staff Role = "staff" // publishes notices and pages
)

// defaultLocale is the locale of a registration without one, defaultPlan the plan of every new account.
const (
	defaultLocale = "en"
	defaultPlan   = "free"
)

// Account is a stored account.
type Account struct {
	ID        id.Account
	Email     string // normalized by Fold
	Locale    string // BCP 47, canonical
	Role      Role
	Plan      string // as staff assigned it
	Disabled  bool
	CreatedAt time.Time

	password string // PHC
	epoch    int64  // incremented when the password is reset
	totp     enrolment
}

// Policy is the operator's settings.
type Policy struct {
	TokenTTL      time.Duration // life of a user token after its last use
	TOTPPending   time.Duration // time to confirm an enrolment
	RecoveryCodes int           // how many an account gets
	Password      Cost
	Registrations Registrations
}

// Secrets are keys derived from the master secret, one per purpose.
type Secrets struct {
	Seal     [32]byte // encrypts two-factor secrets
	Recovery [32]byte // hashes recovery codes
}

// Service implements what owners do with their accounts. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	policy    Policy
	passwords *passwords
	attempts  attempts
	sealer    token.Sealer
	recovery  recoveryKey
}

// New returns a Service. The limiter counts wrong two-factor codes.
func New(d *db.DB, c clock.Clock, l *ratelimit.Limiter, p Policy, s Secrets) (*Service, error) {
	sealer, err := token.NewSealer(s.Seal)
	if err != nil {
		return nil, fmt.Errorf("seal two-factor secrets: %w", err)
	}
	return &Service{
		db: d, clock: c, policy: p, passwords: newPasswords(p.Password), attempts: attempts{l}, sealer: sealer, recovery: s.Recovery[:],
	}, nil
}

// Plan returns the code of the plan that staff assigned to an account. For an unknown account the error wraps
// sql.ErrNoRows.
func (s *Service) Plan(ctx context.Context, account id.Account) (code string, err error) {
	if err := s.db.QueryRow(ctx, selectPlan, account).Scan(&code); err != nil {
		return "", fmt.Errorf("read the plan of %s: %w", account, err)
	}
	return code, nil
}

// SetLocale changes the language of an account. Error: request.invalid.
func (s *Service) SetLocale(ctx context.Context, a *Account, locale string) error {
	canonical, err := parseLocale(locale)
	if err != nil {
		return err
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, updateLocale, a.ID, canonical)
		return err
	})
	if err != nil {
		return fmt.Errorf("set the locale of %s: %w", a.ID, err)
	}
	a.Locale = canonical
	return nil
}
