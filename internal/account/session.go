package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// Session is what a user token stands for: an account that is signed in. Only the token's hash is stored. One call of
// the API has one; it is not shared between goroutines.
type Session struct {
	Account   *Account
	ExpiresAt time.Time // after Authorize or SignIn, when the token ends if it is not used again

	hash      [32]byte // of the token, which identifies it in the database
	createdAt time.Time
}

// extendEvery is how much of a token's life must have passed before a call extends it, so that not every call writes: a
// token is valid for its whole life after its last use, less at most one hour. Tokens that live for less than eight
// hours are extended after an eighth of their life.
const extendEvery = time.Hour

// extendEvery returns the interval for the policy's life of tokens.
func (s *Service) extendEvery() time.Duration { return min(extendEvery, s.policy.TokenTTL/8) }

// openSessionTx creates a user token. A token is 256 random bits, so its hash needs no salt.
func (s *Service) openSessionTx(ctx context.Context, tx *db.Tx, a *Account, c Client) (credential string, _ *Session, err error) {
	return s.openSessionFor(ctx, tx, a, c, s.policy.TokenTTL)
}

// openSessionFor is openSessionTx with a life of the token.
func (s *Service) openSessionFor(ctx context.Context, tx *db.Tx, a *Account, c Client, ttl time.Duration) (credential string, _ *Session, err error) {
	credential, hash := token.MintSecret(token.User)
	now := s.clock.Now()
	session := &Session{Account: a, ExpiresAt: now.Add(ttl).Truncate(time.Microsecond), hash: hash, createdAt: now}
	_, err = tx.Exec(ctx, insertToken, hash[:], id.New[id.Session](now), a.ID, now.UnixMicro(), session.ExpiresAt.UnixMicro(), c.address(), c.userAgent())
	return credential, session, err
}

// Authorize returns the session of a user token and extends the token, writing at most once an hour. It reads the
// account each time, so that changes by staff take effect at once.
//
// An expired token, a deleted one, and that of a disabled account give the same error. If the disk is full the token is
// not extended and the call succeeds. Error: auth.invalid_token.
func (s *Service) Authorize(ctx context.Context, credential string) (*Session, error) {
	kind, hash, err := token.ParseSecret(credential)
	if err != nil || kind != token.User {
		return nil, problem.New(problem.AuthInvalidToken)
	}
	var created, expires int64
	a, err := scan(s.db.QueryRow(ctx, selectByToken, hash[:]), &created, &expires) // the timing of a lookup by a hash of 256 random bits reveals nothing
	now := s.clock.Now()
	if errors.Is(err, sql.ErrNoRows) || err == nil && (a.Disabled || expires <= now.UnixMicro()) {
		return nil, problem.New(problem.AuthInvalidToken)
	}
	if err != nil {
		return nil, fmt.Errorf("read a user token: %w", err)
	}
	session := &Session{Account: a, ExpiresAt: time.UnixMicro(expires).UTC(), hash: hash, createdAt: time.UnixMicro(created).UTC()}
	if time.Duration(expires-created)*time.Microsecond == localTTL { // of OpenLocalSession
		return session, nil
	}
	if err := s.extend(ctx, session, now); err != nil {
		return nil, err
	}
	return session, nil
}

// Check checks that a session has not ended since Authorize returned it, without extending it. Calls that wait for mail
// use it, so that they end soon after the session does, and waiting does not count as use. Error: auth.invalid_token.
func (s *Service) Check(ctx context.Context, session *Session) error {
	var created, expires int64
	a, err := scan(s.db.QueryRow(ctx, selectByToken, session.hash[:]), &created, &expires)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (a.Disabled || expires <= s.clock.Now().UnixMicro()) {
		return problem.New(problem.AuthInvalidToken)
	}
	if err != nil {
		return fmt.Errorf("read a user token: %w", err)
	}
	return nil
}

// extend restores a token's whole life. The token may have been deleted since it was read. Error: auth.invalid_token.
func (s *Service) extend(ctx context.Context, session *Session, now time.Time) error {
	expires := now.Add(s.policy.TokenTTL).Truncate(time.Microsecond)
	if expires.Sub(session.ExpiresAt) < s.extendEvery() {
		return nil
	}
	var n int64
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = tx.Exec(ctx, extendToken, session.hash[:], expires.UnixMicro(), now.UnixMicro())
		return err
	})
	if errors.Is(err, db.ErrFull) {
		return nil // a later call extends it
	}
	if err != nil {
		return fmt.Errorf("extend a user token: %w", err)
	}
	if n == 0 {
		return problem.New(problem.AuthInvalidToken)
	}
	session.ExpiresAt = expires
	return nil
}

// localTTL is the life of the tokens of OpenLocalSession, and of sign-ins with an issuer that cannot be asked again. A token that lives so long, from its creation to its expiry, is not
// extended by use.
const localTTL = time.Hour

// OpenLocalSession creates a user token for an account without its password, which lives for an hour and is not extended by use
// (docs/spec/dev.md#the-inbox). The caller decides who may have it.
func (s *Service) OpenLocalSession(ctx context.Context, a *Account, c Client) (credential string, session *Session, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		credential, session, err = s.openSessionFor(ctx, tx, a, c, localTTL)
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("create a local user token: %w", err)
	}
	return credential, session, nil
}

// startAgent is the User-Agent of the tokens of OpenStartSession.
const startAgent = "gonebox serve"

// OpenStartSession creates a user token for an account without its password or code, for the link that the start of the service
// prints. The token of the start before ends.
func (s *Service) OpenStartSession(ctx context.Context, a *Account) (credential string, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := s.endStartTx(ctx, tx, a.ID); err != nil {
			return err
		}
		credential, _, err = s.openSessionTx(ctx, tx, a, Client{UserAgent: startAgent})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("create the user token of a sign-in link: %w", err)
	}
	return credential, nil
}

// EndStartSession ends the token of OpenStartSession, if there is one.
func (s *Service) EndStartSession(ctx context.Context, account id.Account) error {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.endStartTx(ctx, tx, account) })
	if err != nil {
		return fmt.Errorf("end the user token of a sign-in link: %w", err)
	}
	return nil
}

// endStartTx deletes the token of OpenStartSession. Calls of other processes that wait with it learn of it.
func (s *Service) endStartTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	n, err := tx.Exec(ctx, deleteStartToken, account, startAgent)
	if err == nil && n > 0 {
		_, err = tx.Exec(ctx, updateEnded, account, s.clock.Now().UnixMicro())
	}
	return err
}

// End deletes the session's token. Other sessions of the account continue. A token that is deleted already is no error.
func (s *Service) End(ctx context.Context, session *Session) error {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, deleteToken, session.hash[:])
		return err
	})
	if err != nil {
		return fmt.Errorf("end a user token: %w", err)
	}
	return nil
}

// sweepBatch is how many rows one transaction deletes, so that it does not block other writers for long.
const sweepBatch = 200

// Sweep deletes expired tokens, codes and links, and the secrets of enrolments that were not confirmed in time. Both have ended by their
// times already, wherever they are read; Sweep only frees the space and erases the secrets. A periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	for _, statement := range []string{deleteExpired, endEnrolments, deleteExpiredCodes, deleteExpiredSteps} {
		for n := int64(sweepBatch); n == sweepBatch; {
			err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = tx.Exec(ctx, statement, s.clock.Now().UnixMicro(), sweepBatch)
				return err
			})
			if err != nil {
				return fmt.Errorf("delete expired tokens, enrolments and codes: %w", err)
			}
		}
	}
	return nil
}
