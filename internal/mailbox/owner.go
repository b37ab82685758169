package mailbox

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// checkLiveMaxTx checks that an owner may have one more live mailbox. Only rate limits apply to guests without a session. more asks
// the caller to commit and to call again: expired mailboxes of an account at its limit are ended first, at most endBatch in a
// transaction, and there were more. Error: mailbox.limit_reached.
func (s *Service) checkLiveMaxTx(ctx context.Context, tx *db.Tx, o Owner, limits Limits) (more bool, err error) {
	switch {
	case o.Account != "":
		return s.checkAccountLiveMaxTx(ctx, tx, o.Account, limits)
	case o.Session == "":
		return false, nil
	}
	var live int
	if err := tx.QueryRow(ctx, countSession, o.Session, s.clock.Now().UnixMicro()).Scan(&live); err != nil {
		return false, err
	}
	return false, checkLiveMax(live, limits)
}

func (s *Service) checkAccountLiveMaxTx(ctx context.Context, tx *db.Tx, account id.Account, limits Limits) (more bool, err error) {
	live, err := liveOf(ctx, tx, account)
	if err != nil || live < limits.LiveMax {
		return false, err
	}
	now := s.clock.Now()
	expired, err := many(ctx, tx, selectAccountExpired, account, now.UnixMicro(), endBatch)
	if err != nil {
		return false, err
	}
	if err := s.expireTx(ctx, tx, now, expired...); err != nil {
		return false, err
	}
	live -= len(expired)
	if live >= limits.LiveMax && len(expired) == endBatch {
		return true, nil
	}
	return false, checkLiveMax(live, limits)
}

// checkLiveMax returns mailbox.limit_reached if no more than the live mailboxes are allowed.
func checkLiveMax(live int, limits Limits) error {
	if live >= limits.LiveMax {
		return problem.Detailf(problem.MailboxLimitReached, "%d mailboxes are live; destroy one or wait until one expires", live)
	}
	return nil
}

// countLiveTx adds to the count of an account's mailboxes that have not ended. Mailboxes of guests are not counted.
func countLiveTx(ctx context.Context, tx *db.Tx, account id.Account, change int) error {
	if account == "" {
		return nil
	}
	if err := tx.Queue(ctx, upsertOwner, account, change); err != nil {
		return fmt.Errorf("count mailboxes of %s: %w", account, err)
	}
	return nil
}

// OfAccount returns at most max live mailboxes of an account, newest first: those older than before, or the newest if before is "".
func (s *Service) OfAccount(ctx context.Context, account id.Account, before id.Mailbox, max int) ([]*Mailbox, error) {
	created, last := beyond, before
	if before != "" {
		created = id.Time(before).UnixMicro() // the identifier contains the time of creation
	}
	return many(ctx, s.db, selectByAccount, account, s.clock.Now().UnixMicro(), created, last, max)
}

// beyond is later than all times of creation.
const beyond int64 = 1 << 62

// Owned returns a live mailbox of an account. The error is the same for a mailbox of another account, one that has ended and one that
// never existed, so that callers cannot find out which identifiers exist (docs/spec/keys.md). Error: mailbox.not_found.
func (s *Service) Owned(ctx context.Context, account id.Account, box id.Mailbox) (*Mailbox, error) {
	m, err := one(ctx, s.db, selectByID, box)
	if err != nil {
		return nil, err
	}
	return m, s.owned(m, account)
}

func (s *Service) owned(m *Mailbox, account id.Account) error {
	if account == "" || m == nil || m.Owner.Account != account || !m.Live(s.clock.Now()) {
		return problem.New(problem.MailboxNotFound)
	}
	return nil
}

// DestroyOwned ends a mailbox of an account as Destroy does. Error: mailbox.not_found.
func (s *Service) DestroyOwned(ctx context.Context, account id.Account, box id.Mailbox) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		m, err := one(ctx, tx, selectByID, box)
		if err != nil {
			return err
		}
		if err := s.owned(m, account); err != nil {
			return err
		}
		return s.endTx(ctx, tx, m, m.epoch+1, s.clock.Now())
	})
}

// Paid reports whether the mailboxes of an account, or of guests for "", are of the paid tier.
func (s *Service) Paid(ctx context.Context, account id.Account) (bool, error) {
	limits, err := s.plans.MailboxLimits(ctx, account)
	return limits.Paid, err
}
