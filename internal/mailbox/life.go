package mailbox

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// Token mints a token for the mailbox that is valid until its present expiry. key is the prefix of the developer key that the token
// depends on, or "".
func (s *Service) Token(m *Mailbox, key string) string {
	return s.keys.MintMailbox(token.MailboxClaims{Mailbox: m.ID, Epoch: m.epoch, ExpiresAt: m.ExpiresAt, Developer: key})
}

// Claims returns the claims of a mailbox token, for Open. The caller checks the developer key in them, if there is one. Error:
// auth.invalid_token.
func (s *Service) Claims(credential string) (token.MailboxClaims, error) {
	return s.keys.CheckMailbox(credential)
}

// Open returns the mailbox of a token. Errors: auth.invalid_token, and mailbox.expired if the token was valid and its mailbox has expired.
// The claims suffice for that, so it holds even after the mailbox was erased (docs/spec/mailboxes.md#ending).
func (s *Service) Open(ctx context.Context, claims token.MailboxClaims) (*Mailbox, error) {
	m, err := one(ctx, s.db, selectByID, claims.Mailbox)
	if err != nil {
		return nil, err
	}
	return m.checked(claims, s.clock.Now())
}

// checked returns m, nil for a mailbox that does not exist, if a token with the claims is valid for it.
func (m *Mailbox) checked(claims token.MailboxClaims, now time.Time) (*Mailbox, error) {
	expired := !now.Before(claims.ExpiresAt)
	if m != nil && claims.ExpiresAt.Equal(m.ExpiresAt.Truncate(time.Second)) {
		expired = !m.Live(now) // a token has whole seconds: the newest one is valid until the mailbox expires within its last second
	}
	switch {
	case m == nil && expired:
		return nil, problem.New(problem.MailboxExpired)
	case m == nil, m.epoch != claims.Epoch: // destroyed
		return nil, problem.New(problem.AuthInvalidToken)
	case !m.Live(now):
		return nil, problem.New(problem.MailboxExpired)
	case expired: // the mailbox was extended, which minted a new token
		return nil, problem.New(problem.AuthInvalidToken)
	}
	return m, nil
}

// Live reports whether a mailbox exists and has neither ended nor expired.
func (s *Service) Live(ctx context.Context, box id.Mailbox) (bool, error) {
	m, err := one(ctx, s.db, selectByID, box)
	return m != nil && m.Live(s.clock.Now()), err
}

// Extend moves a mailbox's expiry to ttl from now, or the plan's default for zero, but never to an earlier time. It returns the mailbox.
// Errors: mailbox.lifetime_exceeded, mailbox.expired, request.invalid, and auth.invalid_token if it was destroyed in the meantime.
func (s *Service) Extend(ctx context.Context, box id.Mailbox, ttl time.Duration) (*Mailbox, error) {
	var m *Mailbox
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if m, err = one(ctx, tx, selectByID, box); err != nil {
			return err
		}
		now := s.clock.Now()
		if m == nil || !m.Live(now) {
			return m.endedProblem(now) // it was live when its token was checked
		}
		limits, err := s.plans.MailboxLimits(ctx, m.Owner.Account)
		if err != nil {
			return err
		}
		until, err := m.extended(now, ttl, limits)
		if err != nil || until.Equal(m.ExpiresAt) {
			return err
		}
		m.ExpiresAt = until
		if err = s.setExpiryTx(ctx, tx, m.ID, until); err != nil {
			return err
		}
		return s.recordTx(ctx, tx, m.Owner.Account, Change{Mailbox: m.ID, Kind: Extended, ExpiresAt: until})
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// setExpiryTx moves a mailbox's expiry, which voids the tokens that were minted before.
func (s *Service) setExpiryTx(ctx context.Context, tx *db.Tx, box id.Mailbox, until time.Time) error {
	_, err := tx.Exec(ctx, updateExpiry, box, until.UnixMicro())
	tx.AfterCommit(func() { s.opened.Forget(box) })
	return err
}

// endedProblem returns the problem of a mailbox that is not live: erased (m is nil), expired or destroyed.
func (m *Mailbox) endedProblem(now time.Time) error {
	if m != nil && now.Before(m.ExpiresAt) {
		return problem.New(problem.AuthInvalidToken)
	}
	return problem.New(problem.MailboxExpired)
}

// extended returns the expiry after extending by ttl.
func (m *Mailbox) extended(now time.Time, ttl time.Duration, l Limits) (time.Time, error) {
	switch {
	case ttl == 0:
		ttl = l.TTLDefault
	case ttl < MinTTL:
		return time.Time{}, problem.Invalid("/ttl", "must be at least %d seconds", int(MinTTL.Seconds()))
	case ttl > l.TTLMax:
		return time.Time{}, problem.Detailf(problem.MailboxLifetimeExceeded, "the plan allows a ttl of at most %d seconds", int(l.TTLMax.Seconds()))
	}
	until := now.Add(ttl).Truncate(time.Microsecond)
	if until.Before(m.ExpiresAt) {
		return m.ExpiresAt, nil
	}
	if last := m.CreatedAt.Add(l.LifetimeMax); l.LifetimeMax > 0 && until.After(last) {
		return time.Time{}, problem.Detailf(problem.MailboxLifetimeExceeded, "the plan lets this mailbox live until %s at most", last.Format(time.RFC3339))
	}
	return until, nil
}

// Destroy ends a mailbox. Its tokens are void at once, its contents are erased within a minute. Error: project.owner_only for the mailbox
// of a project.
func (s *Service) Destroy(ctx context.Context, box id.Mailbox) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		m, err := one(ctx, tx, selectByID, box)
		switch {
		case err != nil, m == nil, m.ended:
			return err
		case m.Source == Project:
			return errOfProject()
		}
		return s.endTx(ctx, tx, m, m.epoch+1, s.clock.Now())
	})
}

// endTx marks a mailbox as ended and starts the cool-down of its address: at its expiry, if it is found expired only later. A destroyed
// mailbox gets a new epoch, which voids its tokens; an expired one keeps its epoch, so that its tokens get mailbox.expired.
func (s *Service) endTx(ctx context.Context, tx *db.Tx, m *Mailbox, epoch uint32, now time.Time) error {
	if now.After(m.ExpiresAt) {
		now = m.ExpiresAt
	}
	if err := tx.Queue(ctx, updateEnded, m.ID, now.UnixMicro(), epoch); err != nil {
		return err
	}
	if err := countTx(ctx, tx, m, -1); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		s.recent.forget(m.Address)
		s.opened.Forget(m.ID)
		s.wake.Wake(WakeKey(m.ID))
	})
	if m.Source == Sink || m.Source == Project {
		return nil
	}
	return s.holdTx(ctx, tx, m, now)
}

// OfSession returns at most max live mailboxes of a guest session, newest first.
func (s *Service) OfSession(ctx context.Context, session string, max int) ([]*Mailbox, error) {
	return many(ctx, s.db, selectBySession, session, s.clock.Now().UnixMicro(), max)
}

// LeaveSessionTx detaches the mailboxes of a guest session, which keep their own expiry (docs/spec/mailboxes.md#guest-sessions).
func (s *Service) LeaveSessionTx(ctx context.Context, tx *db.Tx, session string) error {
	_, err := tx.Exec(ctx, leaveSession, session)
	return err
}

// CountTx adds to a mailbox's counts of messages and of unread messages.
func (s *Service) CountTx(ctx context.Context, tx *db.Tx, box id.Mailbox, messages, unread int) error {
	_, err := tx.Exec(ctx, updateCounts, box, messages, unread)
	return err
}

// EndTokensTx voids the tokens of all mailboxes that an account owns or is a member of, which stay as they are. The owner gets new tokens by listing the
// mailboxes. Calls that wait with an old token end when their key is woken (WakeAccount). After the commit ForgetTokens must be called.
func EndTokensTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	for _, statement := range []string{nextEpochs, nextJoined} {
		if _, err := tx.Exec(ctx, statement, account); err != nil {
			return fmt.Errorf("end the mailbox tokens of %s: %w", account, err)
		}
	}
	return nil
}

// CheckToken checks that the token with which a live mailbox was opened has not been voided since. Error: auth.invalid_token.
func (s *Service) CheckToken(ctx context.Context, opened *Mailbox) error {
	m, err := one(ctx, s.db, selectByID, opened.ID)
	if err == nil && m != nil && m.Live(s.clock.Now()) && m.epoch != opened.epoch {
		err = problem.New(problem.AuthInvalidToken)
	}
	return err
}

// WakeAccount wakes the calls of this process that wait for mail to any mailbox of an account, or to all of them.
func (s *Service) WakeAccount(ctx context.Context, account id.Account) error {
	boxes, err := db.Collect(ctx, s.db, scanID, selectAccountIDs, account)
	if err != nil {
		return fmt.Errorf("list the mailboxes of %s: %w", account, err)
	}
	s.wake.WakeHere(AccountWakeKey(account))
	for _, box := range boxes {
		s.wake.WakeHere(WakeKey(box))
	}
	return nil
}

// EraseTx ends all mailboxes of an account that leaves: they expire now, and are erased like others that have expired. Its memberships of
// others' mailboxes end. The tokens of all of them are void.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	tx.AfterCommit(s.ForgetTokens)
	joined, err := db.Collect(ctx, tx, scanID, selectJoined, account)
	if err != nil {
		return fmt.Errorf("list the memberships of %s: %w", account, err)
	}
	for _, box := range joined { // which wakes the calls that wait with their tokens
		if _, err := s.RemoveMemberTx(ctx, tx, box, account); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, expireAll, account, s.clock.Now().UnixMicro()); err != nil {
		return fmt.Errorf("end the mailboxes of %s: %w", account, err)
	}
	return nil
}
