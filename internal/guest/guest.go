// Package guest implements sessions without an account: a guest key lists the mailboxes that were created with it,
// until thirty minutes after its last use (docs/spec/mailboxes.md#guest-sessions). It grants nothing else.
//
// Start returns a key, which the browser keeps; only its hash is stored, as the session's identifier. Authorize finds
// the session of a key and extends it. Mailboxes have tokens of their own, so they outlive the session: when it ends,
// by End or by Sweep, they are only detached from it.
package guest

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// Session is an open guest session. It is a copy of the row at the time of reading.
type Session struct {
	ID        string // identifies it in other tables; the hash of its key
	ExpiresAt time.Time
}

// Mailboxes are the operations on mailboxes that sessions need. Package mailbox implements it.
type Mailboxes interface {
	// OfSession returns at most max live mailboxes of a session, newest first.
	OfSession(ctx context.Context, session string, max int) ([]*mailbox.Mailbox, error)
	// LeaveSessionTx detaches the mailboxes of a session in the caller's transaction; they live on.
	LeaveSessionTx(ctx context.Context, tx *db.Tx, session string) error
}

// Service implements guest sessions. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	mailboxes Mailboxes
	idle      time.Duration
}

// New returns a Service; idle is how long a session lives after its last use. Sweep must be called periodically.
func New(d *db.DB, c clock.Clock, m Mailboxes, idle time.Duration) *Service {
	return &Service{db: d, clock: c, mailboxes: m, idle: idle}
}

// Start creates a session and returns its key, of which only the hash is stored. The key is 256 random bits, so its
// hash needs no salt.
func (s *Service) Start(ctx context.Context) (key string, _ *Session, err error) {
	key, hash := token.MintSecret(token.Guest)
	now := s.clock.Now()
	session := &Session{ID: hex.EncodeToString(hash[:]), ExpiresAt: now.Add(s.idle)}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, insertSession, session.ID, now.UnixMicro(), session.ExpiresAt.UnixMicro())
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("start a session: %w", err)
	}
	return key, session, nil
}

// Authorize returns the session of a key and extends it. Each call writes the new expiry. If the disk is full it is not
// extended, and the call succeeds. An unknown key and that of a session that has ended give the same error. Error:
// auth.invalid_token.
func (s *Service) Authorize(ctx context.Context, key string) (*Session, error) {
	kind, hash, err := token.ParseSecret(key)
	if err != nil || kind != token.Guest {
		return nil, problem.New(problem.AuthInvalidToken)
	}
	id := hex.EncodeToString(hash[:]) // the timing of a lookup by a hash of 256 random bits reveals nothing
	var expires int64
	err = s.db.QueryRow(ctx, selectSession, id).Scan(&expires)
	now := s.clock.Now()
	if errors.Is(err, sql.ErrNoRows) || err == nil && expires <= now.UnixMicro() {
		return nil, problem.New(problem.AuthInvalidToken)
	}
	if err != nil {
		return nil, fmt.Errorf("read the session: %w", err)
	}
	session, err := s.extend(ctx, id, now)
	if errors.Is(err, db.ErrFull) { // a later call extends it
		return &Session{ID: id, ExpiresAt: time.UnixMicro(expires)}, nil
	}
	return session, err
}

// extend extends a session, which may have ended since it was read. The statement checks the expiry again, so that an
// expired session is not revived. Error: auth.invalid_token.
func (s *Service) extend(ctx context.Context, id string, now time.Time) (*Session, error) {
	session := &Session{ID: id, ExpiresAt: now.Add(s.idle)}
	var n int64
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = tx.Exec(ctx, updateSession, id, session.ExpiresAt.UnixMicro(), now.UnixMicro())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("extend the session: %w", err)
	}
	if n == 0 {
		return nil, problem.New(problem.AuthInvalidToken)
	}
	return session, nil
}

// End deletes a session. Its mailboxes live on until they expire. It is no error if it has ended already.
func (s *Service) End(ctx context.Context, session *Session) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		return s.endTx(ctx, tx, session.ID)
	})
}

// endTx deletes a session and detaches its mailboxes, in one transaction, so that none refers to a session that is
// gone.
func (s *Service) endTx(ctx context.Context, tx *db.Tx, id string) error {
	if _, err := tx.Exec(ctx, deleteSession, id); err != nil {
		return fmt.Errorf("end the session: %w", err)
	}
	return s.mailboxes.LeaveSessionTx(ctx, tx, id)
}

// Mailboxes lists the session's live mailboxes, newest first.
func (s *Service) Mailboxes(ctx context.Context, session *Session, max int) ([]*mailbox.Mailbox, error) {
	return s.mailboxes.OfSession(ctx, session.ID, max)
}
