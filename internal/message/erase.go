package message

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// EraseTx erases at most max messages of a mailbox and tells whether none is left. The counts are left alone: the
// mailbox goes next.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, box id.Mailbox, max int) (empty bool, err error) {
	some, err := newestTx(ctx, tx, box, max)
	if err != nil {
		return false, fmt.Errorf("list what to erase: %w", err)
	}
	for _, m := range some {
		if _, _, err := s.deleteTx(ctx, tx, box, m); err != nil {
			return false, fmt.Errorf("erase %s: %w", m, err)
		}
	}
	return len(some) < max, nil
}

func newestTx(ctx context.Context, tx *db.Tx, box id.Mailbox, max int) ([]id.Message, error) {
	rows, err := tx.Query(ctx, selectNewest, box, max)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []id.Message
	for rows.Next() {
		var m id.Message
		if err := rows.Scan(&m); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// DropUnacknowledged removes, at start, the messages whose original did not reach the disk before a crash. A set of
// mail is answered 250 when both its rows and its originals are on stable storage; if only the rows are, nobody was
// answered, the senders try again, and what is here would be there twice. It returns how many it removed.
func (s *Service) DropUnacknowledged(ctx context.Context) (dropped int, err error) {
	tails, err := s.tails(ctx)
	if err != nil {
		return 0, fmt.Errorf("read how far the originals reach: %w", err)
	}
	whole := true
	for _, ref := range tails {
		whole = whole && s.originals.Has(ref)
	}
	if whole { // as after every orderly end and nearly every crash
		return 0, nil
	}
	all, err := s.withOriginal(ctx, s.clock.Now())
	if err != nil {
		return 0, fmt.Errorf("list messages with originals: %w", err)
	}
	for _, l := range all {
		if s.originals.Has(l.ref) {
			continue
		}
		if err := s.Delete(ctx, l.box, l.id); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}
