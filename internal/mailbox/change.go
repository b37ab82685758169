package mailbox

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// ChangeKind says what changed.
type ChangeKind string

// The kinds of changes.
const (
	Seen     ChangeKind = "seen"     // a message was marked as read or unread
	Deleted  ChangeKind = "deleted"  // a message was deleted
	Tagged   ChangeKind = "tagged"   // a message got other tags
	Extended ChangeKind = "extended" // the mailbox expires later
)

// Change is something that happened in a mailbox besides a new message. It is recorded for the event streams of all processes
// (docs/spec/events.md).
type Change struct {
	ID        id.Event
	Mailbox   id.Mailbox
	At        time.Time // of the clock of the process that made it
	Kind      ChangeKind
	Message   id.Message // "" for Extended
	Seen      bool       // of the message
	ExpiresAt time.Time  // for Extended: the new expiry
}

// changesKept is how long changes are kept. It is longer than ChangesOverlap, and than a stream takes between two reads.
const changesKept = time.Minute

// ChangesOverlap is how much earlier than the latest read a change may have been made and still not have been visible to it:
// its transaction was in progress, or the clock of its process is behind.
const ChangesOverlap = 30 * time.Second

// SeenTx records that messages of a mailbox were marked as read or unread.
func (s *Service) SeenTx(ctx context.Context, tx *db.Tx, box id.Mailbox, seen bool, messages ...id.Message) error {
	return s.recordOfTx(ctx, tx, Change{Mailbox: box, Kind: Seen, Seen: seen}, messages)
}

// DeletedTx records that messages of a mailbox were deleted, all of which were read or all unread.
func (s *Service) DeletedTx(ctx context.Context, tx *db.Tx, box id.Mailbox, seen bool, messages ...id.Message) error {
	return s.recordOfTx(ctx, tx, Change{Mailbox: box, Kind: Deleted, Seen: seen}, messages)
}

// TaggedTx records that messages of a mailbox got other tags.
func (s *Service) TaggedTx(ctx context.Context, tx *db.Tx, box id.Mailbox, messages ...id.Message) error {
	return s.recordOfTx(ctx, tx, Change{Mailbox: box, Kind: Tagged}, messages)
}

// recordOfTx records the same change of several messages of a mailbox whose owner is not known yet.
func (s *Service) recordOfTx(ctx context.Context, tx *db.Tx, c Change, messages []id.Message) error {
	var account id.Account
	var source Source
	if err := tx.QueryRow(ctx, selectAccount, c.Mailbox).Scan(&account, &source); err != nil {
		return fmt.Errorf("read the owner of %s: %w", c.Mailbox, err)
	}
	if source == Project {
		members, err := membersOf(ctx, tx, []id.Mailbox{c.Mailbox})
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			for _, member := range members[c.Mailbox] {
				s.wake.Wake(AccountWakeKey(member))
			}
		})
	}
	all := make([]Change, len(messages))
	for i, m := range messages {
		all[i] = c
		all[i].Message = m
	}
	return s.recordTx(ctx, tx, account, all...)
}

// recordTx records changes in a mailbox of an account, or of a guest for "", and wakes the event streams after the commit.
func (s *Service) recordTx(ctx context.Context, tx *db.Tx, account id.Account, changes ...Change) error {
	var rows changeRows
	for _, c := range changes {
		rows.add(c, account, s.changeTime())
	}
	box := changes[0].Mailbox
	if err := rows.insertTx(ctx, tx); err != nil {
		return fmt.Errorf("record %d changes of %s: %w", len(changes), box, err)
	}
	tx.AfterCommit(func() {
		s.wake.Wake(WakeKey(box))
		if account != "" {
			s.wake.Wake(AccountWakeKey(account))
		}
	})
	return nil
}

// changeTime returns the time of a change: later than those of all changes that this process has made before, so that they sort in
// their order.
func (s *Service) changeTime() time.Time {
	for {
		last := s.lastChange.Load()
		if next := max(s.clock.Now().UnixMicro(), last+1); s.lastChange.CompareAndSwap(last, next) {
			return time.UnixMicro(next).UTC()
		}
	}
}

// Changes calls found with the changes in a mailbox that were made after a time, in their order, until it returns false.
func (s *Service) Changes(ctx context.Context, box id.Mailbox, after time.Time, found func(Change) bool) error {
	return s.changes(ctx, found, selectChanges, box, after.UnixMicro())
}

// AccountChanges is Changes for all mailboxes of an account.
func (s *Service) AccountChanges(ctx context.Context, account id.Account, after time.Time, found func(Change) bool) error {
	return s.changes(ctx, found, selectAccountChanges, account, after.UnixMicro())
}

func (s *Service) changes(ctx context.Context, found func(Change) bool, query string, args ...any) error {
	rows, err := s.db.Query(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read changes: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		c, err := scanChange(rows)
		if err != nil {
			return fmt.Errorf("read changes: %w", err)
		}
		if !found(c) {
			return nil
		}
	}
	return rows.Err()
}

// Get returns a mailbox, live or not; nil if it never existed or was erased.
func (s *Service) Get(ctx context.Context, box id.Mailbox) (*Mailbox, error) {
	return one(ctx, s.db, selectByID, box)
}

// GetTx is Get in a transaction.
func (s *Service) GetTx(ctx context.Context, tx *db.Tx, box id.Mailbox) (*Mailbox, error) {
	return one(ctx, tx, selectByID, box)
}

// SameTokens reports whether the tokens of m are also those of later, the same mailbox read later: it was not destroyed.
func (m *Mailbox) SameTokens(later *Mailbox) bool { return m.epoch == later.epoch }

// LastMessageAt returns the time of the newest message that the mailbox has received, the zero time if there was none.
func (m *Mailbox) LastMessageAt() time.Time { return timeOf(m.lastAt) }

// NewestOf returns the time of the newest message that an account has received, as far as the mailbox is not erased; the zero
// time if there was none.
func (s *Service) NewestOf(ctx context.Context, account id.Account) (time.Time, error) {
	var last int64
	if err := s.db.QueryRow(ctx, selectNewestOfAccount, account).Scan(&last); err != nil {
		return time.Time{}, fmt.Errorf("read the newest mail of %s: %w", account, err)
	}
	return timeOf(last), nil
}

// ReceivedAfter returns the live mailboxes of an account that have received a message after a time, and the time of the newest
// message of these. Messages of an account are committed in the order of their times, so no other mailbox has one between the two
// times that was committed later than this was read.
func (s *Service) ReceivedAfter(ctx context.Context, account id.Account, at time.Time) (boxes []id.Mailbox, newest time.Time, err error) {
	var last int64
	boxes, err = db.Collect(ctx, s.db, func(row db.Row) (box id.Mailbox, err error) {
		var at int64
		err = row.Scan(&box, &at)
		last = max(last, at)
		return box, err
	}, selectReceived, account, s.clock.Now().UnixMicro(), micro(at))
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("list the mailboxes of %s with new mail: %w", account, err)
	}
	return boxes, timeOf(last), nil
}

// SweepChanges deletes changes that are older than the streams need.
func (s *Service) SweepChanges(ctx context.Context) error {
	return s.inBatches(ctx, nil, func(ctx context.Context, tx *db.Tx) (bool, error) {
		n, err := tx.Exec(ctx, deleteChanges, s.clock.Now().Add(-changesKept).UnixMicro(), holdBatch)
		return n < holdBatch, err
	})
}

// timeOf returns a stored time, the zero time for 0.
func timeOf(micro int64) (t time.Time) {
	if micro != 0 {
		t = time.UnixMicro(micro).UTC()
	}
	return t
}

// micro is the inverse of timeOf.
func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
