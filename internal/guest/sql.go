package guest

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	insertSession = "INSERT INTO guest_session (id, created_at, expires_at) VALUES ($1, $2, $3)"
	selectSession = "SELECT expires_at FROM guest_session WHERE id = $1"
	updateSession = "UPDATE guest_session SET expires_at = $2 WHERE id = $1 AND expires_at > $3"
	deleteSession = "DELETE FROM guest_session WHERE id = $1"
	selectExpired = "SELECT id FROM guest_session WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2"
)

// sweepBatch is how many expired sessions one transaction deletes. Each of them takes several statements, so the number
// is small.
const sweepBatch = 100

// Sweep deletes the expired sessions. Their keys are refused from their expiry on, whether or not they have been
// deleted. A periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	for {
		n := 0
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			expired, err := s.expiredTx(ctx, tx)
			if err != nil {
				return err
			}
			n = len(expired)
			for _, id := range expired {
				if err := s.endTx(ctx, tx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || n < sweepBatch {
			return err
		}
	}
}

// expiredTx returns the identifiers of at most sweepBatch expired sessions, the earliest expiry first.
func (s *Service) expiredTx(ctx context.Context, tx *db.Tx) ([]string, error) {
	all, err := db.Collect(ctx, tx, db.Value[string], selectExpired, s.clock.Now().UnixMicro(), sweepBatch)
	if err != nil {
		return nil, fmt.Errorf("list expired sessions: %w", err)
	}
	return all, nil
}
