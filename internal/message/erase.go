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
