package mailbox

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Members are accounts that may read a mailbox beside its owner: those of a project. What the owner sees in lists, waits and event streams
// of the account, each member sees in those of theirs. So the messages of such a mailbox sort in commit order among the messages of every
// member too: a batch gives them times later than those of all messages that a member has (Batch.reserve).

// SetMemberTx lets an account read a mailbox in a role, or changes its role.
func (s *Service) SetMemberTx(ctx context.Context, tx *db.Tx, box id.Mailbox, account id.Account, role string) error {
	if _, err := tx.Exec(ctx, upsertMember, account, box, role, s.clock.Now().UnixMicro()); err != nil {
		return fmt.Errorf("store a member of %s: %w", box, err)
	}
	tx.AfterCommit(func() { s.wake.Wake(AccountWakeKey(account)) })
	return nil
}

// RemoveMemberTx ends an account's right to read a mailbox, and with it all tokens of the mailbox, since the account has one. It reports
// whether the account was a member.
func (s *Service) RemoveMemberTx(ctx context.Context, tx *db.Tx, box id.Mailbox, account id.Account) (was bool, err error) {
	n, err := tx.Exec(ctx, deleteMember, account, box)
	if err != nil || n == 0 {
		return false, err
	}
	if _, err := tx.Exec(ctx, nextEpoch, box); err != nil {
		return false, fmt.Errorf("end the tokens of %s: %w", box, err)
	}
	tx.AfterCommit(func() {
		s.opened.Forget(box)
		s.wake.Wake(WakeKey(box), AccountWakeKey(account))
	})
	return true, nil
}

// membersOf returns the members of mailboxes, by mailbox. Accounts that have been deleted are left out.
func membersOf(ctx context.Context, q db.Queryer, boxes []id.Mailbox) (map[id.Mailbox][]id.Account, error) {
	members := make(map[id.Mailbox][]id.Account)
	list, args := db.In(1, boxes)
	_, err := db.Collect(ctx, q, func(row db.Row) (none struct{}, err error) {
		var box id.Mailbox
		var account id.Account
		err = row.Scan(&box, &account)
		members[box] = append(members[box], account)
		return none, err
	}, selectMembers+list, args...)
	if err != nil {
		return nil, fmt.Errorf("read the members of %d mailboxes: %w", len(boxes), err)
	}
	return members, nil
}

// readMembersTx reads the members of the mailboxes of projects, and locks the accounts' times. Without such a mailbox it runs no statement.
func (b *Batch) readMembersTx(ctx context.Context, tx *db.Tx, found []*batchBox) error {
	var boxes []id.Mailbox
	for _, box := range found {
		if box.Source == Project {
			boxes = append(boxes, box.ID)
		}
	}
	if len(boxes) == 0 {
		return nil
	}
	members, err := membersOf(ctx, tx, boxes)
	if err != nil {
		return err
	}
	var unread []id.Account
	for _, box := range found {
		box.members = members[box.ID]
		for _, account := range box.members {
			if b.addAccount(account) {
				unread = append(unread, account)
			}
		}
	}
	return b.readUnreadTx(ctx, tx, unread)
}

// Holds reports whether the batch has a live mailbox at an address, and it is the given one.
func (b *Batch) Holds(address string, m id.Mailbox) bool {
	box := b.boxes[address]
	return box != nil && box.ID == m && box.Live(b.now)
}
