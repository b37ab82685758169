package mailbox

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// lastingMax is how long a token for a mailbox without a greatest lifetime is valid.
const lastingMax = 10 * 365 * 24 * time.Hour

// lasting returns the time to live of a mailbox that is extended by use.
func (l Limits) lasting(ttl time.Duration) time.Duration {
	if l.LifetimeMax > 0 {
		return min(ttl, l.LifetimeMax)
	}
	return ttl
}

// Password returns the live mailbox at an address and the hash of its password, which is "" if it was created without one. It
// returns nil if there is no such mailbox.
func (s *Service) Password(ctx context.Context, address string) (m *Mailbox, hash string, err error) {
	m, err = one(ctx, s.db, selectByAddress, address)
	if err != nil || m == nil || !m.Live(s.clock.Now()) {
		return nil, "", err
	}
	if err := s.db.QueryRow(ctx, selectPassword, m.ID).Scan(&hash); err != nil {
		return nil, "", fmt.Errorf("read the password of %s: %w", m.ID, err)
	}
	return m, hash, nil
}

// LastingToken mints a token for a mailbox that is extended by use. It is valid for as long as the mailbox can live.
func (s *Service) LastingToken(ctx context.Context, m *Mailbox) (string, error) {
	limits, err := s.plans.MailboxLimits(ctx, m.Owner.Account)
	if err != nil {
		return "", err
	}
	until := m.CreatedAt.Add(lastingMax)
	if limits.LifetimeMax > 0 {
		until = m.CreatedAt.Add(limits.LifetimeMax)
	}
	if until.Before(m.ExpiresAt) {
		until = m.ExpiresAt
	}
	return s.keys.MintMailbox(token.MailboxClaims{Mailbox: m.ID, Epoch: m.epoch, ExpiresAt: until}), nil
}

// Use extends a mailbox to ttl from now, at most to its greatest lifetime. It writes only where that adds an eighth of ttl, so that
// reading mail costs few writes. A mailbox without a password stays as it is. Error: mailbox.expired.
func (s *Service) Use(ctx context.Context, m *Mailbox, ttl time.Duration) (*Mailbox, error) {
	limits, err := s.plans.MailboxLimits(ctx, m.Owner.Account)
	if err != nil {
		return nil, err
	}
	until := s.clock.Now().Add(ttl).Truncate(time.Microsecond)
	if last := m.CreatedAt.Add(limits.LifetimeMax); limits.LifetimeMax > 0 && until.After(last) {
		until = last
	}
	if until.Sub(m.ExpiresAt) < ttl/8 {
		return m, nil
	}
	var hash string
	if err := s.db.QueryRow(ctx, selectPassword, m.ID).Scan(&hash); err != nil || hash == "" {
		return m, err
	}
	var used *Mailbox
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if used, err = one(ctx, tx, selectByID, m.ID); err != nil {
			return err
		}
		if used == nil || !used.Live(s.clock.Now()) {
			return problem.New(problem.MailboxExpired)
		}
		if !until.After(used.ExpiresAt) {
			return nil
		}
		used.ExpiresAt = until
		if err = s.setExpiryTx(ctx, tx, m.ID, until); err != nil {
			return err
		}
		return s.recordTx(ctx, tx, m.Owner.Account, Change{Mailbox: m.ID, Kind: Extended, ExpiresAt: until})
	})
	if err != nil {
		return nil, err
	}
	return used, nil
}
