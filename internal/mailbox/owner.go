package mailbox

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// roomTx holds the owner's live mailboxes against the plan: nil, or mailbox.limit_reached. A guest without a session is
// clamped by address alone. again asks the caller to commit and to come again: an account that is at its limit has those
// of its mailboxes ended first that have expired, and there were more of them than one update may end.
func (s *Service) roomTx(ctx context.Context, tx *db.Tx, o Owner, limits Limits) (again bool, err error) {
	switch {
	case o.Account != "":
		return s.accountRoomTx(ctx, tx, o.Account, limits)
	case o.Session == "":
		return false, nil
	}
	var live int
	if err := tx.QueryRow(ctx, countSession, o.Session, s.clock.Now().UnixMicro()).Scan(&live); err != nil {
		return false, err
	}
	return false, roomFor(live, limits)
}

func (s *Service) accountRoomTx(ctx context.Context, tx *db.Tx, account id.Account, limits Limits) (again bool, err error) {
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
	return false, roomFor(live, limits)
}

func roomFor(live int, limits Limits) error {
	if live >= limits.LiveMax {
		return problem.Detailf(problem.MailboxLimitReached, "%d mailboxes are live; destroy one or wait until one expires", live)
	}
	return nil
}

// countLiveTx keeps the count of an account's mailboxes that have not ended; others are not counted.
func countLiveTx(ctx context.Context, tx *db.Tx, account id.Account, change int) error {
	if account == "" {
		return nil
	}
	if err := tx.Queue(ctx, upsertOwner, account, change); err != nil {
		return fmt.Errorf("count mailboxes of %s: %w", account, err)
	}
	return nil
}

// OfAccount lists an account's live mailboxes, newest first: those older than the one named before ("": from the
// newest on), at most max.
func (s *Service) OfAccount(ctx context.Context, account id.Account, before id.Mailbox, max int) ([]*Mailbox, error) {
	created, last := beyond, before
	if before != "" {
		created = id.Time(before).UnixMicro() // the identifier was made for the creation
	}
	return many(ctx, s.db, selectByAccount, account, s.clock.Now().UnixMicro(), created, last, max)
}

// beyond is later than every creation.
const beyond int64 = 1 << 62

// Owned returns a live mailbox of an account. What is another's, has ended or never was is told the same way, so that
// nobody learns which mailboxes exist (spec §4 keys). Error: mailbox.not_found.
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

// Paid tells the tier of the mailboxes of an account, or of guests where account is "" (decisions §2 Mailbox).
func (s *Service) Paid(ctx context.Context, account id.Account) (bool, error) {
	limits, err := s.plans.MailboxLimits(ctx, account)
	return limits.Paid, err
}
