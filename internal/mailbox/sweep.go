package mailbox

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Batch sizes of a sweep. A batch holds SQLite's writer for a few milliseconds, so that mail is stored between batches; and it costs a
// commit, so it covers many mailboxes. Mailboxes with a mail or two each are then erased as fast as their mail arrives.
const (
	endBatch   = 100 // mailboxes to end
	eraseBoxes = 32  // mailboxes to erase
	eraseBatch = 100 // messages of these to erase
	holdBatch  = 500 // addresses whose cool-down is over
)

// Sweep ends expired mailboxes, erases ended ones with their contents, and releases addresses whose cool-down is over. It returns how
// many mailboxes it erased.
func (s *Service) Sweep(ctx context.Context, contents Contents) (erased int, err error) {
	if err := s.endExpired(ctx); err != nil {
		return 0, fmt.Errorf("end expired mailboxes: %w", err)
	}
	if erased, err = s.eraseEnded(ctx, contents); err != nil {
		return erased, err
	}
	if err := s.dropHolds(ctx); err != nil {
		return erased, fmt.Errorf("release held addresses: %w", err)
	}
	return erased, nil
}

func (s *Service) eraseEnded(ctx context.Context, contents Contents) (erased int, err error) {
	for {
		boxes, err := endedIDs(ctx, s.db, eraseBoxes)
		if err != nil || len(boxes) == 0 {
			return erased, err
		}
		if err := s.erase(ctx, boxes, contents); err != nil {
			return erased, fmt.Errorf("erase %d mailboxes from %s on: %w", len(boxes), boxes[0], err)
		}
		erased += len(boxes)
	}
}

func (s *Service) dropHolds(ctx context.Context) error {
	return s.inBatches(ctx, func(ctx context.Context, tx *db.Tx) (bool, error) {
		n, err := tx.Exec(ctx, deleteHolds, s.clock.Now().UnixMicro(), holdBatch)
		return n < holdBatch, err
	})
}

func (s *Service) endExpired(ctx context.Context) error {
	return s.inBatches(ctx, func(ctx context.Context, tx *db.Tx) (bool, error) {
		now := s.clock.Now()
		expired, err := many(ctx, tx, selectExpired, now.UnixMicro(), endBatch)
		if err != nil {
			return false, err
		}
		if err := s.expireTx(ctx, tx, now, expired...); err != nil {
			return false, err
		}
		return len(expired) < endBatch, nil
	})
}

// erase erases the contents of mailboxes, then the mailboxes.
func (s *Service) erase(ctx context.Context, boxes []id.Mailbox, contents Contents) error {
	return s.inBatches(ctx, func(ctx context.Context, tx *db.Tx) (bool, error) {
		empty, err := contents.EraseTx(ctx, tx, boxes, eraseBatch)
		if err != nil || !empty {
			return false, err
		}
		if err := s.eraseDeliveriesTx(ctx, tx, boxes); err != nil {
			return false, err
		}
		return true, deleteTx(ctx, tx, boxes)
	})
}

// eraseDeliveriesTx erases what the delivery log has of mailboxes.
func (s *Service) eraseDeliveriesTx(ctx context.Context, tx *db.Tx, boxes []id.Mailbox) error {
	if s.deliveries == nil {
		return nil
	}
	addresses, err := addressesTx(ctx, tx, boxes)
	if err != nil {
		return err
	}
	return s.deliveries.EraseTx(ctx, tx, addresses)
}

// batches repeats a step, each in an update of its own, until it says that it is done.
func (s *Service) inBatches(ctx context.Context, step func(context.Context, *db.Tx) (done bool, err error)) error {
	for {
		var done bool
		observed := s.observeBatch()
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			done, err = step(ctx, tx)
			return err
		})
		observed()
		if err != nil || done {
			return err
		}
	}
}

// day returns the UTC day of a time, in days since 1970.
func day(t time.Time) int64 { return t.Unix() / int64((24 * time.Hour).Seconds()) }
