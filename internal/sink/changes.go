package sink

import (
	"context"
	"sync"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Change is a change of the sink's mail, for clients that follow it. A mail that changed several times since is one
// Change, in its last state.
type Change struct {
	Mail *Mail       // nil: it is gone
	ID   id.SinkMail // of the mail
	New  bool        // it has arrived; otherwise it was marked or deleted
}

// Changes returns what has changed after the change numbered since, and the number of the last one. A since below zero
// returns nothing but the number, to begin with.
//
// It reads the database and not the index, and is cheap if nothing has changed: one row. A caller polls it. Rows that
// Sweep has removed are missing, so a caller that
// asks less often than Sweep runs may miss deletions.
func (s *Service) Changes(ctx context.Context, since int64) (all []Change, last int64, err error) {
	last, _, err = state(ctx, s.db)
	if err != nil || since < 0 || since == last {
		return nil, last, err
	}
	err = each(ctx, s.db, func(v *row) {
		last = max(last, v.change)
		c := Change{ID: v.ID, New: v.Number > since}
		if !v.gone {
			c.Mail = &v.Mail
		}
		if !v.gone || !c.New { // what came and went in between was never seen
			all = append(all, c)
		}
	}, selectChanged, since)
	return all, last, err
}

// pruning remembers the number of the last change at the previous Sweep; 0 means that there was none.
type pruning struct {
	// mu guards upTo.
	mu   sync.Mutex
	upTo int64
}

// Sweep deletes the rows of mails that were gone at its previous call already, by when all processes have noticed. An
// index that has not read them by then reads everything again: updateForgotten stores up to which change rows are
// missing. A periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	changes, _, err := state(ctx, s.db)
	if err != nil {
		return err
	}
	s.pruned.mu.Lock()
	upTo := s.pruned.upTo
	s.pruned.upTo = changes
	s.pruned.mu.Unlock()
	if upTo == 0 {
		return nil
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, deleteGone, upTo)
		if err == nil && n > 0 {
			_, err = tx.Exec(ctx, updateForgotten, upTo)
		}
		return err
	})
}
