package message

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Kept bounds the messages that a mailbox keeps: the newest ones that satisfy all of the bounds.
type Kept struct {
	Messages int
	Octets   int64 // of all messages together, as received
	For      time.Duration
}

// newest returns how many of the messages, which are in the order of their age, are kept.
func (k Kept) newest(all []aged, now time.Time) (n int) {
	oldest := now.Add(-k.For).UnixMicro()
	var octets int64
	for ; n < len(all) && n < k.Messages && all[n].at > oldest; n++ {
		if octets += all[n].size; octets > k.Octets {
			break
		}
	}
	return n
}

// trimBatch is how many messages are erased in one transaction.
const trimBatch = 100

// Trim erases the messages of a mailbox that are not to be kept.
func (s *Service) Trim(ctx context.Context, box id.Mailbox, k Kept) error {
	all, err := db.Collect(ctx, s.db, scanAged, selectAged, box)
	if err != nil {
		return fmt.Errorf("list what to erase of %s: %w", box, err)
	}
	old := all[k.newest(all, s.clock.Now()):]
	slices.Reverse(old) // the oldest first
	for some := range slices.Chunk(old, trimBatch) {
		refs := make([]Ref, len(some))
		for i, m := range some {
			refs[i] = Ref{Box: box, Message: m.message}
		}
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.DeleteManyTx(ctx, tx, refs) })
		if err != nil {
			return err
		}
	}
	return nil
}

// aged is a message that Trim considers.
type aged struct {
	message id.Message
	at      int64 // when it was received, in microseconds since 1970
	size    int64 // in octets, as received
}

func scanAged(row db.Row) (m aged, err error) {
	err = row.Scan(&m.message, &m.at, &m.size)
	return m, err
}

// DeleteAudited is Delete that also records the change in the audit log. Error: message.not_found.
func (s *Service) DeleteAudited(ctx context.Context, box id.Mailbox, m id.Message) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := s.removeTx(ctx, tx, box, m); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, s.clock.Now(), "message.delete", string(m), "")
	})
}
