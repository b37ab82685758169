package project

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// eraseBatch is how many messages are erased in one transaction, which occupies SQLite's writer for some milliseconds.
const eraseBatch = 100

// TrimTx erases the oldest messages of those mailboxes that have more than their projects keep, in the transaction that stores new ones: at
// most eraseBatch beyond what has arrived, so that mail is not kept waiting where a bound was lowered.
func (s *Service) TrimTx(ctx context.Context, tx *db.Tx, arrived map[id.Mailbox]int) error {
	for _, box := range slices.Sorted(maps.Keys(arrived)) { // in one order, as rows are locked
		n, err := excess(ctx, tx, box)
		if err == nil && n > 0 {
			err = s.eraseOldestTx(ctx, tx, box, min(n, arrived[box]+eraseBatch))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// trim erases what a project may no longer keep, because of its number of messages or their age.
func (s *Service) trim(ctx context.Context, p *Project) error {
	for done := false; !done; {
		err := s.Mailboxes.UpdatePaced(ctx, func(ctx context.Context, tx *db.Tx) error {
			n, err := excess(ctx, tx, p.Mailbox)
			if err != nil {
				return err
			}
			done = n <= eraseBatch
			if n <= 0 {
				return nil
			}
			return s.eraseOldestTx(ctx, tx, p.Mailbox, min(n, eraseBatch))
		})
		if err != nil {
			return err
		}
	}
	return s.eraseExpired(ctx, p.Mailbox, p.Retention)
}

func (s *Service) eraseOldestTx(ctx context.Context, tx *db.Tx, box id.Mailbox, n int) error {
	for n > 0 {
		refs, err := s.Messages.OldestTx(ctx, tx, box, "", min(n, eraseBatch))
		if err != nil || len(refs) == 0 {
			return err
		}
		if err := s.Messages.DeleteManyTx(ctx, tx, refs); err != nil {
			return err
		}
		n -= len(refs)
	}
	return nil
}

// Sweep erases the messages that are older than their projects keep them. A periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	due, err := expired(ctx, s.DB, s.Clock.Now())
	if err != nil {
		return err
	}
	for _, d := range due {
		if err := s.eraseExpired(ctx, d.box, d.retention); err != nil {
			return err
		}
	}
	return nil
}

// eraseExpired erases the messages of a mailbox that are older than a retention.
func (s *Service) eraseExpired(ctx context.Context, box id.Mailbox, retention time.Duration) error {
	before := id.Last[id.Message](s.Clock.Now().Add(-retention))
	for done := false; !done; {
		err := s.Mailboxes.UpdatePaced(ctx, func(ctx context.Context, tx *db.Tx) error {
			refs, err := s.Messages.OldestTx(ctx, tx, box, before, eraseBatch)
			done = len(refs) < eraseBatch
			if err != nil {
				return err
			}
			return s.Messages.DeleteManyTx(ctx, tx, refs)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
