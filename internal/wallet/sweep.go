package wallet

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
)

// sweepBatch is how many orders one transaction deletes, so that it does not block other writers for long.
const sweepBatch = 500

// Sweep deletes unpaid orders older than Policy.OrderKeep, except those that a transfer refers to. An order can no
// longer be paid automatically by then, since OrderKeep is at least LatePayment. It returns the error of the first
// transaction that failed; what was deleted before stays deleted. A periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	for {
		var n int64
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = tx.Exec(ctx, deleteUnpaid, s.clock.Now().Add(-s.policy.OrderKeep).UnixMicro(), sweepBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("delete unpaid orders: %w", err)
		}
		if n < sweepBatch {
			return nil
		}
	}
}
