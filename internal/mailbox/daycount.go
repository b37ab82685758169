package mailbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// dayCount counts the messages of one UTC day against the daily cap: those of a guest's mailbox, or those of all mailboxes of an
// account (docs/spec/limits.md#quotas-of-plans).
type dayCount struct {
	day   int64 // the last day with a message, in days since 1970
	count int   // messages on that day
}

// on returns how many messages arrived on a day, which is not before the last day with a message.
func (c *dayCount) on(day int64) int {
	if c.day != day {
		return 0
	}
	return c.count
}

func (c *dayCount) add(day int64) { c.day, c.count = day, c.on(day)+1 }

// dailyCount returns the count that the daily cap of the mailbox applies to.
func (m *Mailbox) dailyCount() *dayCount {
	if m.account != nil {
		return m.account
	}
	return &m.own
}

// accountQuota is the part of an account that a batch needs.
type accountQuota struct {
	limits   Limits
	dayCount dayCount
	lastAt   int64 // time of the newest message of all its mailboxes, in microseconds since 1970
	dirty    bool  // dayCount and lastAt must be written
	free     int   // mailboxes that its catch-all may still open
}

// readAccountsTx reads the accounts of mailboxes in one statement, as far as the batch has not read them yet, and links the mailboxes
// to them.
func (b *Batch) readAccountsTx(ctx context.Context, tx *db.Tx, boxes []*batchBox) error {
	var unread []id.Account
	for _, box := range boxes {
		if owner := box.Owner.Account; owner != "" && b.addAccount(owner) {
			unread = append(unread, owner)
		}
	}
	if err := b.readUnreadTx(ctx, tx, unread); err != nil {
		return err
	}
	for _, box := range boxes {
		if a := b.accounts[box.Owner.Account]; a != nil {
			box.account, box.limits = &a.dayCount, b.s.limitsOf(box.Mailbox, a.limits)
		}
	}
	return nil
}

// addAccount adds an account to those of the batch, and reports whether it must still be read.
func (b *Batch) addAccount(owner id.Account) bool {
	if _, known := b.accounts[owner]; known {
		return false
	}
	if b.accounts == nil {
		b.accounts = make(map[id.Account]*accountQuota)
	}
	b.accounts[owner] = &accountQuota{}
	return true
}

// readUnreadTx reads what addAccount has added.
func (b *Batch) readUnreadTx(ctx context.Context, tx *db.Tx, unread []id.Account) error {
	if err := b.readLimits(ctx, unread); err != nil {
		return err
	}
	return b.lockDayCountsTx(ctx, tx, unread)
}

func (b *Batch) readLimits(ctx context.Context, owners []id.Account) error {
	if len(owners) == 0 {
		return nil
	}
	return b.s.plans.MailboxLimitsOf(ctx, owners, func(owner id.Account, l Limits) { b.accounts[owner].limits = l })
}

// lockDayCountsTx reads and locks the counts of accounts. It inserts a count for those that have none, since a missing row cannot be
// locked.
func (b *Batch) lockDayCountsTx(ctx context.Context, tx *db.Tx, accounts []id.Account) error {
	if len(accounts) == 0 {
		return nil
	}
	missing, err := b.readDayCountsTx(ctx, tx, accounts)
	if err != nil || len(missing) == 0 {
		return err
	}
	slices.Sort(missing)
	for _, a := range missing {
		if err := tx.Queue(ctx, insertDayCount, a); err != nil {
			return fmt.Errorf("insert the daily count of %s: %w", a, err)
		}
	}
	_, err = b.readDayCountsTx(ctx, tx, missing)
	return err
}

// readDayCountsTx reads and locks the counts that accounts have, and returns the accounts without one.
func (b *Batch) readDayCountsTx(ctx context.Context, tx *db.Tx, accounts []id.Account) (missing []id.Account, err error) {
	list, args := db.In(1, accounts)
	rows, err := tx.Query(ctx, selectDayCounts+list+byAccount(tx.Engine()), args...)
	if err != nil {
		return nil, fmt.Errorf("read daily counts: %w", err)
	}
	defer rows.Close()
	found := make(map[id.Account]bool, len(accounts))
	for rows.Next() {
		var owner id.Account
		var c dayCount
		var last int64
		if err := rows.Scan(&owner, &c.day, &c.count, &last); err != nil {
			return nil, fmt.Errorf("read daily counts: %w", err)
		}
		b.accounts[owner].dayCount, b.accounts[owner].lastAt = c, last
		found[owner] = true
	}
	for _, a := range accounts {
		if !found[a] {
			missing = append(missing, a)
		}
	}
	return missing, rows.Err()
}

// saveDayCountsTx writes the counts of the accounts that got mail.
func (b *Batch) saveDayCountsTx(ctx context.Context, tx *db.Tx) error {
	for owner, a := range b.accounts {
		if !a.dirty {
			continue
		}
		if err := tx.Queue(ctx, upsertDayCount, owner, a.dayCount.day, a.dayCount.count, a.lastAt); err != nil {
			return fmt.Errorf("write the daily count of %s: %w", owner, err)
		}
	}
	return nil
}
