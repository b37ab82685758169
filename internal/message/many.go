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

// boxCount is how many of the messages to delete are in a mailbox.
type boxCount struct {
	box              id.Mailbox
	messages, unread int
}

// DeleteManyTx removes messages, as many as fit into a statement: a few hundred. Those that do not exist are ignored.
func (s *Service) DeleteManyTx(ctx context.Context, tx *db.Tx, refs []Ref) error {
	if len(refs) == 0 {
		return nil
	}
	pairs, args := pairsOf(refs)
	counts, err := db.Collect(ctx, tx, func(row db.Row) (c boxCount, err error) {
		err = row.Scan(&c.box, &c.messages, &c.unread)
		return c, err
	}, fmt.Sprintf(selectManyCounts, pairs), args...)
	if err != nil {
		return fmt.Errorf("count %d messages to delete: %w", len(refs), err)
	}
	for _, c := range counts { // the mailboxes before their messages, as in Delete
		if err := s.boxes.CountTx(ctx, tx, c.box, -c.messages, -c.unread); err != nil {
			return err
		}
	}
	if err := blob.LockTx(ctx, tx, fmt.Sprintf(selectManyBlobs, pairs), args...); err != nil {
		return err
	}
	for _, statement := range []string{deleteManyFiles, deleteMany} {
		if err := tx.Queue(ctx, fmt.Sprintf(statement, pairs), args...); err != nil {
			return fmt.Errorf("delete %d messages: %w", len(refs), err)
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
