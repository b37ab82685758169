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
	some, err := db.Collect(ctx, tx, db.Value[id.Message], selectNewest, box, max)
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
