// Package account implements registration, sign-in, two-factor authentication, user tokens, and the operator's changes
// of accounts (docs/spec/accounts.md). It does not depend on what an account owns or what its plan entitles it to.
//
// A Service does what owners do: Register and SignIn check a password and return a user token, Authorize turns a user
// token into a Session, SetUp, Confirm and EndTwoFactor change two-factor authentication. A Registry does what the
// operator does, by command or through the staff API: it creates, lists, changes and disables accounts, resets
// passwords and manages invitations. Either can be used without the other.
//
// Hashing a password takes 19 MiB and tens of milliseconds of a core, and anonymous clients can demand it. So a caller
// first reserves a HashSlot, which fails at once if too many wait, and passes it to Register or SignIn. At most one
// hash per core is computed at a time, and the memory of all of them is bounded.
//
// Only hashes of passwords, user tokens, recovery codes and invitation codes are stored, and the two-factor secret is
// encrypted. Passwords and codes appear in no error and no log. Every change is on stable storage when its function
// returns. Accounts and tokens are read from the database for each call and not cached, so a change
// by one process takes effect in all of them with the next call.
package account

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
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

// Account is a stored account. It is a copy of the row at the time of reading: methods that change something read the
// row again.
type Account struct {
	ID        id.Account // assigned at registration, never changed
	Email     string     // normalized by Fold
	Locale    string     // BCP 47, canonical
	Role      Role
	Plan      string // its code, as staff assigned it
	Disabled  bool
	CreatedAt time.Time

	ConfirmedAt time.Time // when the e-mail address was confirmed by a code or a link; zero: it is not

	provisioned bool // made by the operator

	password string // the PHC string of the Argon2id hash; "": none
	epoch    int64  // incremented when the password is reset, so that a sign-in under way fails
	totp     enrolment
}

// Policy is the operator's settings. All durations are positive. The zero values of Password and Registrations mean the
// least cost and open registration.
type Policy struct {
	TokenTTL      time.Duration // life of a user token after its last use
	TOTPPending   time.Duration // time to confirm an enrolment
	RecoveryCodes int           // how many an account gets
	Password      Cost
	Registrations Registrations
}

// Secrets are keys derived from the data key (package datakey), one per purpose. Changing one makes what was stored
// with it useless: two-factor secrets cannot be decrypted, recovery codes do not match.
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
	erase     Eraser
	letters   *Letters    // nil: there is no relay
	forgotten *job.Queue  // of requests for a new password; nil without a relay
	federated *federation // nil: there is no issuer
}

// New returns a Service. The limiter counts wrong two-factor codes. The error is that of creating the cipher.
func New(d *db.DB, c clock.Clock, l *ratelimit.Limiter, p Policy, s Secrets) (*Service, error) {
	sealer, err := token.NewSealer(s.Seal)
	if err != nil {
		return nil, fmt.Errorf("seal two-factor secrets: %w", err)
	}
	return &Service{
		db: d, clock: c, policy: p, passwords: newPasswords(p.Password, c), attempts: attempts{l}, sealer: sealer, recovery: s.Recovery[:],
	}, nil
}

// Plan returns the code of the plan that staff assigned to an account. For an unknown account the error wraps
// sql.ErrNoRows. It is the assigned plan and not the plan in effect, which package subscription computes.
func (s *Service) Plan(ctx context.Context, account id.Account) (code string, err error) {
	if err := s.db.QueryRow(ctx, selectPlan, account).Scan(&code); err != nil {
		return "", fmt.Errorf("read the plan of %s: %w", account, err)
	}
	return code, nil
}

// SetLocale changes the language of an account. It also sets a.Locale, so a must not be used by another goroutine
// meanwhile. Error: request.invalid.
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
