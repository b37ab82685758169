package account

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/truncate"
)

// Client is who opens a session, for its owner to recognise it by.
type Client struct {
	Address   netip.Addr // zero: a command of the operator
	UserAgent string     // as the client sent it
}

// userAgentMax bounds a stored User-Agent, in octets.
const userAgentMax = 256

func (c Client) address() string {
	if !c.Address.IsValid() {
		return ""
	}
	return c.Address.String()
}

func (c Client) userAgent() string { return db.Storable(truncate.Octets(c.UserAgent, userAgentMax)) }

// TokenInfo is a user token as its owner sees it.
type TokenInfo struct {
	ID         id.Session
	CreatedAt  time.Time
	LastUsedAt time.Time // to the hour: uses between two extensions of the token are not stored
	ExpiresAt  time.Time
	Address    string // of the client that signed in; "": unknown
	UserAgent  string
	Current    bool // it is the token of the session that asks
}

// Sessions returns at most limit user tokens of the session's account, newest first, older than after unless that is "".
func (s *Service) Sessions(ctx context.Context, session *Session, after id.Session, limit int) ([]*TokenInfo, error) {
	now := s.clock.Now()
	all, err := db.Collect(ctx, s.db, func(row db.Row) (*TokenInfo, error) {
		var t TokenInfo
		var hash []byte
		var created, expires int64
		if err := row.Scan(&t.ID, &hash, &created, &expires, &t.Address, &t.UserAgent); err != nil {
			return nil, err
		}
		t.CreatedAt, t.ExpiresAt = db.Moment(created), db.Moment(expires)
		t.LastUsedAt = t.ExpiresAt.Add(-s.policy.TokenTTL)
		if t.Current = string(hash) == string(session.hash[:]); t.Current || t.LastUsedAt.After(now) {
			t.LastUsedAt = now
		}
		if t.LastUsedAt.Before(t.CreatedAt) {
			t.LastUsedAt = t.CreatedAt
		}
		return &t, nil
	}, selectTokens, session.Account.ID, now.UnixMicro(), after, limit)
	if err != nil {
		return nil, fmt.Errorf("list the user tokens of %s: %w", session.Account.ID, err)
	}
	return all, nil
}

// EndSession ends a user token of the session's account; it may be the session's own. Error: session.not_found.
func (s *Service) EndSession(ctx context.Context, session *Session, token id.Session) error {
	return s.endTokens(ctx, session, "account.end-session", string(token), deleteTokenByID, session.Account.ID, token)
}

// EndOtherSessions ends all user tokens of the session's account but its own.
func (s *Service) EndOtherSessions(ctx context.Context, session *Session) error {
	return s.endTokens(ctx, session, "account.end-sessions", "", deleteOtherTokens, session.Account.ID, session.hash[:])
}

// endTokens executes a statement that deletes user tokens. Calls that wait with one of them learn of it. A named token must exist.
func (s *Service) endTokens(ctx context.Context, session *Session, action, token, statement string, args ...any) error {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, statement, args...)
		if err != nil {
			return err
		}
		if n == 0 && token != "" {
			return problem.New(problem.SessionNotFound)
		}
		now := s.clock.Now()
		if _, err := tx.Exec(ctx, updateEnded, session.Account.ID, now.UnixMicro()); err != nil {
			return err
		}
		return audit.RecordTx(audit.As(ctx, string(session.Account.ID)), tx, now, action, string(session.Account.ID), token)
	})
	if err != nil {
		return fmt.Errorf("end user tokens: %w", err)
	}
	return nil
}
