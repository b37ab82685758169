package mailbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// tally counts the messages of one UTC day, against the daily cap: those of a guest's mailbox, or those of all of an
// account's mailboxes (decisions §6, mail.daily.max).
type tally struct {
	day   int64
	count int
}

// on is how many messages came on a day.
func (t *tally) on(day int64) int {
	if t.day != day {
		return 0
	}
	return t.count
}

func (t *tally) add(day int64) { t.day, t.count = day, t.on(day)+1 }

// capped is what the daily cap of a mailbox counts.
func (m *Mailbox) capped() *tally {
	if m.account != nil {
		return m.account
	}
	return &m.own
}

// accountBook is what a set of mails needs to know of an account that has mailboxes in it.
type accountBook struct {
	limits Limits
	tally  tally
	dirty  bool
	room   int // mailboxes that its catch-all may still open
}

// accountsTx reads the accounts that mailboxes belong to, in one statement, and ties each mailbox to its account.
func (in *Intake) accountsTx(ctx context.Context, tx *db.Tx, boxes []*booked) error {
	var fresh []id.Account
	for _, b := range boxes {
		owner := b.Owner.Account
		if _, known := in.accounts[owner]; owner == "" || known {
			continue
		}
		if in.accounts == nil {
			in.accounts = make(map[id.Account]*accountBook)
		}
		in.accounts[owner] = &accountBook{}
		fresh = append(fresh, owner)
	}
	if err := in.limits(ctx, fresh); err != nil {
		return err
	}
	if err := in.talliesTx(ctx, tx, fresh); err != nil {
		return err
	}
	for _, b := range boxes {
		if a := in.accounts[b.Owner.Account]; a != nil {
			b.account, b.limits = &a.tally, a.limits
		}
	}
	return nil
}

// limits reads what accounts may have.
func (in *Intake) limits(ctx context.Context, owners []id.Account) error {
	if len(owners) == 0 {
		return nil
	}
	return in.s.plans.MailboxLimitsOf(ctx, owners, func(owner id.Account, l Limits) { in.accounts[owner].limits = l })
}

// talliesTx reads the counts of accounts and locks them. An account that has none yet is given one first: what is not there
// cannot be locked.
func (in *Intake) talliesTx(ctx context.Context, tx *db.Tx, accounts []id.Account) error {
	if len(accounts) == 0 {
		return nil
	}
	none, err := in.readTalliesTx(ctx, tx, accounts)
	if err != nil || len(none) == 0 {
		return err
	}
	slices.Sort(none)
	for _, a := range none {
		if err := tx.Queue(ctx, insertTally, a); err != nil {
			return fmt.Errorf("begin to count the day's mail: %w", err)
		}
	}
	_, err = in.readTalliesTx(ctx, tx, none)
	return err
}

// readTalliesTx gives accounts their counts and tells which have none yet.
func (in *Intake) readTalliesTx(ctx context.Context, tx *db.Tx, accounts []id.Account) (none []id.Account, err error) {
	list, args := db.In(1, accounts)
	rows, err := tx.Query(ctx, selectTallies+list+byAccount(tx.Engine()), args...)
	if err != nil {
		return nil, fmt.Errorf("read the day's mail: %w", err)
	}
	defer rows.Close()
	found := make(map[id.Account]bool, len(accounts))
	for rows.Next() {
		var owner id.Account
		var t tally
		if err := rows.Scan(&owner, &t.day, &t.count); err != nil {
			return nil, fmt.Errorf("read the day's mail: %w", err)
		}
		in.accounts[owner].tally = t
		found[owner] = true
	}
	for _, a := range accounts {
		if !found[a] {
			none = append(none, a)
		}
	}
	return none, rows.Err()
}

// saveTalliesTx writes the accounts' counts, once a set.
func (in *Intake) saveTalliesTx(ctx context.Context, tx *db.Tx) error {
	for owner, a := range in.accounts {
		if !a.dirty {
			continue
		}
		if err := tx.Queue(ctx, upsertTally, owner, a.tally.day, a.tally.count); err != nil {
			return fmt.Errorf("count the day's mail of %s: %w", owner, err)
		}
	}
	return nil
}
