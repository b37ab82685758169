package message

import (
	"context"
	"fmt"
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

// deletion is a message to delete.
type deletion struct {
	Ref
	seen bool
}

// DeleteManyTx removes messages, as many as fit into a statement: a few hundred. Those that do not exist are ignored.
func (s *Service) DeleteManyTx(ctx context.Context, tx *db.Tx, refs []Ref) error {
	if len(refs) == 0 {
		return nil
	}
	pairs, args := pairsOf(refs)
	found, err := db.Collect(ctx, tx, func(row db.Row) (d deletion, err error) {
		err = row.Scan(&d.Box, &d.Message, &d.seen)
		return d, err
	}, fmt.Sprintf(selectMany, pairs), args...)
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
	for _, d := range found {
		if err := s.boxes.DeletedTx(ctx, tx, d.Box, d.Message, d.seen); err != nil {
			return err
		}
	}
	return nil
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

// pairsOf returns the rows of VALUES for references, and their arguments.
func pairsOf(refs []Ref) (pairs string, args []any) {
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
