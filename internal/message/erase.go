package message

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// eraseOctets bounds the mail erased in one transaction, in octets as received: deleting content takes longer than deleting rows.
const eraseOctets = 8 << 20

// EraseTx erases at most max messages of mailboxes, fewer if they are large, and reports whether none is left. It does not
// update the counts of the mailboxes, which are erased next.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, boxes []id.Mailbox, max int) (empty bool, err error) {
	if len(boxes) == 0 {
		return true, nil
	}
	all, args := db.In(1, boxes)
	size := len(args)
	some, err := db.Collect(ctx, tx, scanErasable, fmt.Sprintf(selectErasable, all, size+1), append(slices.Clone(args), max)...)
	if err != nil {
		return false, fmt.Errorf("list what to erase: %w", err)
	}
	n := within(some, eraseOctets)
	if n == 0 {
		return true, nil
	}
	args = append(args, some[n-1].box, some[n-1].message)
	if err := blob.LockTx(ctx, tx, fmt.Sprintf(selectErased, all, size+1, size+2), args...); err != nil {
		return false, err
	}
	for _, statement := range []string{eraseAttachments, eraseMessages} {
		if err := tx.Queue(ctx, fmt.Sprintf(statement, all, size+1, size+2), args...); err != nil {
			return false, fmt.Errorf("erase %d messages: %w", n, err)
		}
	}
	return n < max && n == len(some), nil
}

// erasable is a message of a mailbox to erase.
type erasable struct {
	box     id.Mailbox
	message id.Message
	size    int64 // in octets, as received
}

// within returns how many of the first messages have at most most octets together, at least one.
func within(some []erasable, most int64) (n int) {
	var sum int64
	for _, e := range some {
		if sum += e.size; n > 0 && sum > most {
			break
		}
		n++
	}
	return n
}
