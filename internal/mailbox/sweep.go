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
	endBatch   = 100 // expired mailboxes to end
	eraseBoxes = 32  // ended mailboxes to erase
	eraseBatch = 100 // messages of those mailboxes to erase
	holdBatch  = 500 // addresses whose cool-down is over
)

// endEvery is how often a sweep that takes long ends those mailboxes that have expired since it began.
const endEvery = 5 * time.Second

// Sweep ends expired mailboxes, erases ended ones with their contents, and releases addresses whose cool-down is over. It returns how
// many mailboxes it erased. It pauses while mail arrives (see pacer), so it may take minutes.
func (s *Service) Sweep(ctx context.Context, contents Contents) (erased int, err error) {
	return s.sweep(ctx, contents, s.pace)
}

// SweepNow is Sweep without pauses.
func (s *Service) SweepNow(ctx context.Context, contents Contents) (erased int, err error) {
	return s.sweep(ctx, contents, nil)
}

func (s *Service) sweep(ctx context.Context, contents Contents, pace *pacer) (erased int, err error) {
	if erased, err = s.eraseEnded(ctx, contents, pace); err != nil {
		return erased, err
	}
	if err := s.dropHolds(ctx, pace); err != nil {
		return erased, fmt.Errorf("release held addresses: %w", err)
	}
	return erased, nil
}

// eraseEnded ends expired mailboxes, and erases ended ones until none is left.
func (s *Service) eraseEnded(ctx context.Context, contents Contents, pace *pacer) (erased int, err error) {
	for ended := (time.Time{}); ; {
		if now := s.pace.clock.Now(); ended.IsZero() || now.Sub(ended) >= endEvery {
			if err := s.endExpired(ctx, pace); err != nil {
				return erased, fmt.Errorf("end expired mailboxes: %w", err)
			}
			ended = s.pace.clock.Now()
		}
		boxes, first, err := endedIDs(ctx, s.db, eraseBoxes)
		if err != nil || len(boxes) == 0 {
			return erased, err
		}
		if err := s.erase(ctx, boxes, first, contents, pace); err != nil {
			return erased, fmt.Errorf("erase %d mailboxes from %s on: %w", len(boxes), boxes[0], err)
		}
		erased += len(boxes)
	}
}

// pausing returns what inBatches calls after each transaction: a pause, unless pace is nil. due is since when the work of the last
// transaction has been waiting.
func (s *Service) pausing(ctx context.Context, pace *pacer, due *time.Time) func(took time.Duration) error {
	return func(took time.Duration) error { return pace.pause(ctx, took, s.clock.Now().Sub(*due)) }
}

// deliveriesKept is how long the delivery log has entries of mail that was refused after the mailbox had ended.
const deliveriesKept = 24 * time.Hour

// dropHolds deletes the holds whose cool-down has ended. A hold is kept for as long as the delivery log may know the senders of the last
// holder, so that these can be erased when the address gets another one.
func (s *Service) dropHolds(ctx context.Context, pace *pacer) error {
	var now time.Time // holds are in no hurry: they are never behind
	return s.inBatches(ctx, s.pausing(ctx, pace, &now), func(ctx context.Context, tx *db.Tx) (bool, error) {
		now = s.clock.Now()
		n, err := tx.Exec(ctx, deleteHolds, now.Add(-max(0, deliveriesKept-s.policy.Cooldown)).UnixMicro(), holdBatch)
		return n < holdBatch, err
	})
}

func (s *Service) endExpired(ctx context.Context, pace *pacer) error {
	var due time.Time
	return s.inBatches(ctx, s.pausing(ctx, pace, &due), func(ctx context.Context, tx *db.Tx) (bool, error) {
		now := s.clock.Now()
		expired, err := many(ctx, tx, selectExpired, now.UnixMicro(), endBatch)
		if err != nil {
			return false, err
		}
		due = now
		if len(expired) > 0 {
			due = expired[0].ExpiresAt // the first that expired
		}
		if err := s.expireTx(ctx, tx, now, expired...); err != nil {
			return false, err
		}
		return len(expired) < endBatch, nil
	})
}

// erase erases the contents of mailboxes, of which the first has been ended since a time, then the mailboxes.
func (s *Service) erase(ctx context.Context, boxes []id.Mailbox, since time.Time, contents Contents, pace *pacer) error {
	return s.inBatches(ctx, s.pausing(ctx, pace, &since), func(ctx context.Context, tx *db.Tx) (bool, error) {
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

// inBatches repeats a step, each in an update of its own, until it says that it is done. After each it calls pause, which may be nil, with
// the time from the beginning of the step to the end of its commit, without what the update waited for others before.
func (s *Service) inBatches(ctx context.Context, pause func(took time.Duration) error, step func(context.Context, *db.Tx) (done bool, err error)) error {
	for {
		var done bool
		var begun time.Time
		observed := s.observeBatch()
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			if begun.IsZero() { // not a retry
				begun = s.pace.clock.Now()
			}
			done, err = step(ctx, tx)
			return err
		})
		observed()
		if err != nil {
			return err
		}
		if pause != nil {
			err = pause(s.pace.clock.Now().Sub(begun))
		}
		if err != nil || done {
			return err
		}
	}
}

// day returns the UTC day of a time, in days since 1970.
func day(t time.Time) int64 { return t.Unix() / int64((24 * time.Hour).Seconds()) }
