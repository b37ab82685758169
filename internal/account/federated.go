package account

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/oidc"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// Federation lets users of an OpenID Connect issuer sign in (docs/spec/accounts.md#sign-in-with-an-issuer).
type Federation struct {
	Issuer      string   // as its users are stored
	AllowGroups []string // of which a user must be in one; empty: every user may sign in
	StaffGroup  string   // whose users have the role staff, and no others; "": roles stay as they are
	Seal        [32]byte // encrypts refresh tokens and tickets
	Logger      *slog.Logger

	// Refresh asks the issuer again about a user.
	Refresh func(ctx context.Context, subject, refreshToken string) (*oidc.Identity, error)
}

type federation struct {
	Federation
	sealer token.Sealer
}

// FederateBy lets users of an issuer sign in. It must be called before the service is used. The error is that of creating the cipher.
func (s *Service) FederateBy(f Federation) error {
	sealer, err := token.NewSealer(f.Seal)
	if err != nil {
		return fmt.Errorf("seal refresh tokens: %w", err)
	}
	s.federated = &federation{f, sealer}
	return nil
}

// allows reports whether a user may sign in.
func (f *federation) allows(who *oidc.Identity) bool {
	return len(f.AllowGroups) == 0 || slices.ContainsFunc(who.Groups, func(g string) bool { return slices.Contains(f.AllowGroups, g) })
}

// hasRules reports whether the groups of users matter.
func (f *federation) hasRules() bool { return len(f.AllowGroups) > 0 || f.StaffGroup != "" }

// role returns the role that a user has by the groups, or the one that the account has.
func (f *federation) role(who *oidc.Identity, now Role) Role {
	switch {
	case f.StaffGroup == "":
		return now
	case slices.Contains(who.Groups, f.StaffGroup):
		return Staff
	}
	return User
}

// UseState marks the state of an attempt to sign in as used. The state is known to be that of the browser. Error: oidc.failed, if it was
// used before.
func (s *Service) UseState(ctx context.Context, state string) error {
	var n int64
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = tx.Exec(ctx, insertState, stepHash(state), s.clock.Now().Add(oidc.AttemptTTL).UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("use the state of a sign-in: %w", err)
	}
	if n == 0 {
		return problem.Detailf(problem.OIDCFailed, "this answer of the issuer was used before; sign in again")
	}
	return nil
}

// stepHash returns the hash of a state or ticket, which has 130 random bits.
func stepHash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// Need is what an account must still show before a user of the issuer is signed in to it.
type Need string

// The needs of a ticket.
const (
	NeedPassword Need = "password" // an account with the address exists, and is not linked to the user yet
	NeedCode     Need = "code"     // two-factor authentication is active
)

// Arrival is the result of SignInFederated: a session, or a ticket with which Finish opens one.
type Arrival struct {
	Credential string // the user token; "": there is a ticket
	Session    *Session
	Ticket     string
	Need       Need
}

// SignInFederated signs a user of the issuer in to the account that is linked to the user, or to a new one. Where an account has the
// user's e-mail address it returns a ticket, and so where the linked account has two-factor authentication. Errors: oidc.not_allowed,
// oidc.email_unverified.
func (s *Service) SignInFederated(ctx context.Context, who *oidc.Identity, c Client) (arrival *Arrival, err error) {
	if !s.federated.allows(who) {
		if err := s.endFederated(ctx, who); err != nil {
			return nil, err
		}
		return nil, problem.Detailf(problem.OIDCNotAllowed, "you are in none of the groups that may sign in here; ask whoever manages the groups of your team")
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		arrival = new(Arrival)
		a, err := s.linkedTx(ctx, tx, who)
		switch {
		case err != nil:
			return err
		case a == nil:
			return s.firstTx(ctx, tx, who, c, arrival)
		case a.Disabled:
			return problem.Detailf(problem.OIDCNotAllowed, "your account here is disabled; ask the operator of this service")
		case a.TwoFactor(s.clock.Now()) == Active:
			return s.ticketTx(ctx, tx, a, who, NeedCode, arrival)
		}
		arrival.Credential, arrival.Session, err = s.enterTx(ctx, tx, a, who, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sign in with the issuer: %w", err)
	}
	return arrival, nil
}

// linkedTx returns the account that is linked to a user, nil if there is none.
func (s *Service) linkedTx(ctx context.Context, q db.Queryer, who *oidc.Identity) (*Account, error) {
	var owner id.Account
	var at int64
	err := q.QueryRow(ctx, selectLink, who.Issuer, who.Subject).Scan(&owner, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the account of a user of the issuer: %w", err)
	}
	return getAccount(ctx, q, selectByID, owner)
}

// firstTx signs a user in who has no account yet. The address must be one that the issuer has verified: an account is made for it, or one
// that exists is linked by its password. What is not verified is refused alike whether there is an account or not.
func (s *Service) firstTx(ctx context.Context, tx *db.Tx, who *oidc.Identity, c Client, arrival *Arrival) error {
	email, err := parseEmail(who.Email)
	if err != nil || !who.EmailVerified {
		return problem.Detailf(problem.OIDCEmailUnverified, "your account at the issuer has no e-mail address that was verified there; ask whoever manages the accounts of your team")
	}
	a, err := getAccount(ctx, tx, selectByEmail, email)
	if err != nil {
		return err
	}
	if a != nil {
		return s.ticketTx(ctx, tx, a, who, NeedPassword, arrival)
	}
	now := s.clock.Now().Truncate(time.Microsecond)
	a = &Account{ID: id.New[id.Account](now), Email: email, Locale: defaultLocale, Role: User, Plan: defaultPlan, CreatedAt: now, ConfirmedAt: now, epoch: 1}
	n, err := tx.Exec(ctx, insertAccount, a.ID, a.Email, a.Locale, a.Role, a.Plan, now.UnixMicro(), "", 0)
	if err == nil && n == 0 { // the address was registered meanwhile
		err = problem.Detailf(problem.OIDCFailed, "your address was registered meanwhile; sign in again")
	}
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, confirmOnce, a.ID, now.UnixMicro()); err != nil {
		return err
	}
	if err := s.linkTx(ctx, tx, a, who); err != nil {
		return err
	}
	arrival.Credential, arrival.Session, err = s.enterTx(ctx, tx, a, who, c)
	return err
}

// linkTx makes an account that of a user.
func (s *Service) linkTx(ctx context.Context, tx *db.Tx, a *Account, who *oidc.Identity) error {
	now := s.clock.Now()
	n, err := tx.Exec(ctx, insertLink, who.Issuer, who.Subject, a.ID, now.UnixMicro())
	if err != nil {
		return err
	}
	if n == 0 { // another sign-in of the user was faster
		return problem.Detailf(problem.OIDCFailed, "you have signed in elsewhere meanwhile; sign in again")
	}
	return audit.RecordTx(audit.As(ctx, string(a.ID)), tx, now, "account.oidc-link", string(a.ID), who.Issuer)
}

// enterTx opens a session of an account for its user. The role follows the groups. A session of a user about whom the issuer cannot be asked
// again ends within the hour if groups matter.
func (s *Service) enterTx(ctx context.Context, tx *db.Tx, a *Account, who *oidc.Identity, c Client) (credential string, _ *Session, err error) {
	if err := s.followRoleTx(ctx, tx, a, who); err != nil {
		return "", nil, err
	}
	refresh, at := s.federated.sealed(who, s.clock.Now())
	if _, err := tx.Exec(ctx, updateLink, who.Issuer, who.Subject, refresh, at); err != nil {
		return "", nil, err
	}
	ttl := s.policy.TokenTTL
	if who.RefreshToken == "" && s.federated.hasRules() {
		ttl = localTTL
	}
	return s.openSessionFor(ctx, tx, a, c, ttl)
}

// followRoleTx gives an account the role that its user has by the groups.
func (s *Service) followRoleTx(ctx context.Context, tx *db.Tx, a *Account, who *oidc.Identity) error {
	role := s.federated.role(who, a.Role)
	if role == a.Role {
		return nil
	}
	if _, err := tx.Exec(ctx, updateRole, a.ID, role); err != nil {
		return err
	}
	a.Role = role
	return audit.RecordTx(audit.As(ctx, string(a.ID)), tx, s.clock.Now(), "account.oidc-role", string(a.ID), string(role))
}

// Link is a user of an issuer to whom an account is linked.
type Link struct {
	Issuer, Subject string
	CreatedAt       time.Time
}

// Links returns the users to whom an account is linked, newest first.
func (s *Service) Links(ctx context.Context, account id.Account) ([]Link, error) {
	all, err := db.Collect(ctx, s.db, func(row db.Row) (l Link, err error) {
		var created int64
		err = row.Scan(&l.Issuer, &l.Subject, &created)
		l.CreatedAt = db.Moment(created)
		return l, err
	}, selectLinks, account)
	if err != nil {
		return nil, fmt.Errorf("list the links of %s: %w", account, err)
	}
	return all, nil
}
