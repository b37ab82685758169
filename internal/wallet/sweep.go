package wallet

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
)

// sweepBatch is how many orders are erased at a time, so that the writer is not held for long.
const sweepBatch = 500

// Sweep erases orders that were never paid and are older than Policy.OrderKeep. One that a transfer names stays, since it
// tells what became of that.
func (s *Service) Sweep(ctx context.Context) error {
	for {
		var n int64
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = tx.Exec(ctx, deleteUnpaid, s.clock.Now().Add(-s.policy.OrderKeep).UnixMicro(), sweepBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("erase unpaid orders: %w", err)
		}
		if n < sweepBatch {
			return nil
		}
	}
}
