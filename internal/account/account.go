// Package account holds the rules of an account: register, sign in, its locale, two-factor, and what staff may do to it
// (decisions §2 Account). It refuses to know what an account owns and what its plan entitles it to.
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

// Role says what an account may do beside using the service.
type Role string

// The roles of decisions §2 Account.
const (
	User  Role = "user"
	Staff Role = "staff" // publishes notices and pages
)

// defaultLocale is for those who register without naming one, defaultPlan for all who register.
const (
	defaultLocale = "en"
	defaultPlan   = "free"
)

// Account is an account as it is stored.
type Account struct {
	ID        id.Account
	Email     string // as Fold leaves it
	Locale    string // BCP 47, canonical
	Role      Role
	Plan      string // as staff assigned it
	Disabled  bool
	CreatedAt time.Time

	password string // PHC
	epoch    int64  // of the password
	totp     enrolment
}

// Policy is the operator's settings.
type Policy struct {
	TokenTTL      time.Duration // how long a user token lives after its last use
	TOTPPending   time.Duration // how long an enrolment waits to be confirmed
	RecoveryCodes int           // how many are handed out
	Password      Cost
}

// Secrets are the keys of what is kept unreadable; each is derived from the master secret for its purpose alone.
type Secrets struct {
	Seal     [32]byte // seals two-factor secrets
	Recovery [32]byte // hashes recovery codes
}

// Service is the use of accounts by their owners. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	policy    Policy
	passwords *passwords
	attempts  attempts
	sealer    token.Sealer
	recovery  recoveryKey
}

// New assembles the service. The limiter counts wrong two-factor codes.
func New(d *db.DB, c clock.Clock, l *ratelimit.Limiter, p Policy, s Secrets) (*Service, error) {
	sealer, err := token.NewSealer(s.Seal)
	if err != nil {
		return nil, fmt.Errorf("seal two-factor secrets: %w", err)
	}
	return &Service{
		db: d, clock: c, policy: p, passwords: newPasswords(p.Password), attempts: attempts{l}, sealer: sealer, recovery: s.Recovery[:],
	}, nil
}

// Plan is the code of the plan that staff assigned to an account. An unknown account has sql.ErrNoRows in its error.
func (s *Service) Plan(ctx context.Context, account id.Account) (code string, err error) {
	if err := s.db.QueryRow(ctx, selectPlan, account).Scan(&code); err != nil {
		return "", fmt.Errorf("read the plan of %s: %w", account, err)
	}
	return code, nil
}

// SetLocale changes the language that an account is spoken to in. Error: request.invalid.
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
