package message

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Ref identifies a message in a mailbox.
type Ref struct {
	Box     id.Mailbox
	Message id.Message
}

// deletion is a message to delete or to mark.
type deletion struct {
	Ref
	seen bool
}

// OldestTx returns the oldest messages of a mailbox, at most max of them, and none from before on unless that is "".
func (s *Service) OldestTx(ctx context.Context, tx *db.Tx, box id.Mailbox, before id.Message, max int) ([]Ref, error) {
	if before == "" {
		before = newest
	}
	refs, err := db.Collect(ctx, tx, scanRef, selectOldest, box, before, max)
	if err != nil {
		return nil, fmt.Errorf("list the oldest messages of %s: %w", box, err)
	}
	return refs, nil
}

// DeleteManyTx removes messages, as many as fit into a statement: a few hundred. Those that do not exist are ignored.
func (s *Service) DeleteManyTx(ctx context.Context, tx *db.Tx, refs []Ref) error {
	if len(refs) == 0 {
		return nil
	}
	pairs, args := Pairs(refs)
	found, err := db.Collect(ctx, tx, scanDeletion, fmt.Sprintf(selectMany, pairs), args...)
	if err != nil {
		return fmt.Errorf("find %d messages to delete: %w", len(refs), err)
	}
	if err := s.countDeletedTx(ctx, tx, found); err != nil { // the mailboxes before their messages, as in Delete
		return err
	}
	if err := blob.LockTx(ctx, tx, fmt.Sprintf(selectManyBlobs, pairs), args...); err != nil {
		return err
	}
	for _, statement := range []string{deleteManyFiles, deleteMany} {
		if err := tx.Queue(ctx, fmt.Sprintf(statement, pairs), args...); err != nil {
			return fmt.Errorf("delete %d messages: %w", len(refs), err)
		}
	}
	return changedTx(found, func(box id.Mailbox, seen bool, messages []id.Message) error {
		return s.boxes.DeletedTx(ctx, tx, box, seen, messages...)
	})
}

// SeeManyTx marks messages as read or unread, as many as fit into a statement. Those that do not exist are ignored.
func (s *Service) SeeManyTx(ctx context.Context, tx *db.Tx, refs []Ref, seen bool) error {
	if len(refs) == 0 {
		return nil
	}
	pairs, args := Pairs(refs)
	found, err := db.Collect(ctx, tx, scanDeletion, fmt.Sprintf(selectMany, pairs), args...)
	if err != nil {
		return fmt.Errorf("find %d messages to mark: %w", len(refs), err)
	}
	found = slices.DeleteFunc(found, func(d deletion) bool { return d.seen == seen })
	if len(found) == 0 {
		return nil
	}
	value, unread := 0, 1
	if seen {
		value, unread = 1, -1
	}
	changed := make([]Ref, len(found))
	for i, d := range found {
		changed[i] = d.Ref
	}
	err = changedTx(found, func(box id.Mailbox, _ bool, messages []id.Message) error { // the mailboxes before their messages, as in Delete
		return s.boxes.CountTx(ctx, tx, box, 0, unread*len(messages))
	})
	if err != nil {
		return err
	}
	pairs, args = Pairs(changed)
	if err := tx.Queue(ctx, fmt.Sprintf(updateSeenMany, value, pairs), args...); err != nil {
		return fmt.Errorf("mark %d messages: %w", len(changed), err)
	}
	return changedTx(found, func(box id.Mailbox, _ bool, messages []id.Message) error {
		return s.boxes.SeenTx(ctx, tx, box, seen, messages...)
	})
}

// changedTx calls fn with the messages of each mailbox, those that were read apart from those that were not. found is sorted by mailbox.
func changedTx(found []deletion, fn func(box id.Mailbox, seen bool, messages []id.Message) error) error {
	for len(found) > 0 {
		box := found[0].Box
		var messages [2][]id.Message
		for ; len(found) > 0 && found[0].Box == box; found = found[1:] {
			at := 0
			if found[0].seen {
				at = 1
			}
			messages[at] = append(messages[at], found[0].Message)
		}
		for at, some := range messages {
			if len(some) == 0 {
				continue
			}
			if err := fn(box, at == 1, some); err != nil {
				return err
			}
		}
	}
	return nil
}

func scanDeletion(row db.Row) (d deletion, err error) {
	err = row.Scan(&d.Box, &d.Message, &d.seen)
	return d, err
}

// countDeletedTx subtracts messages from the counts of their mailboxes. The messages are sorted by mailbox.
func (s *Service) countDeletedTx(ctx context.Context, tx *db.Tx, found []deletion) error {
	for len(found) > 0 {
		box, messages, unread := found[0].Box, 0, 0
		for ; len(found) > 0 && found[0].Box == box; found = found[1:] {
			if messages++; !found[0].seen {
				unread++
			}
		}
		if err := s.boxes.CountTx(ctx, tx, box, -messages, -unread); err != nil {
			return err
		}
	}
	return nil
}

// Pairs returns the rows of VALUES for references, and their arguments.
func Pairs(refs []Ref) (pairs string, args []any) {
	var b strings.Builder
	for i, r := range refs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("($" + strconv.Itoa(2*i+1) + ",$" + strconv.Itoa(2*i+2) + ")")
		args = append(args, r.Box, r.Message)
	}
	return b.String(), args
}
