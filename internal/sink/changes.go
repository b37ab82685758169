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
	Mail *Mail       // nil: it was deleted
	ID   id.SinkMail // of the mail, also if it was deleted
	New  bool        // it has arrived; otherwise it was marked as read or unread, or deleted
}

// Changes returns the changes after the one numbered since, and the number of the last change. With a negative since it
// returns only that number, for a client that starts to follow the changes.
//
// It is meant for polling: it reads the database and not the index, and if nothing has changed it reads only one row.
// Rows that Sweep has removed are missing, so a caller that polls less often than Sweep runs may miss deletions.
func (s *Service) Changes(ctx context.Context, since int64) (changes []Change, last int64, err error) {
	last, _, err = readState(ctx, s.db)
	if err != nil || since < 0 || since == last {
		return nil, last, err
	}
	err = forEachRow(ctx, s.db, func(v *row) {
		last = max(last, v.change)
		c := Change{ID: v.ID, New: v.Number > since}
		if !v.deleted {
			c.Mail = &v.Mail
		}
		if !v.deleted || !c.New { // the client has never seen a mail that arrived and was deleted since
			changes = append(changes, c)
		}
	}, selectChanged, since)
	return changes, last, err
}

// sweepState remembers the number of the last change at the previous Sweep of this process.
type sweepState struct {
	// mu guards change.
	mu     sync.Mutex
	change int64 // 0: there was no previous Sweep
}

// Sweep removes the rows of mails that were already deleted at its previous call. The time between two calls lets the
// other processes read these rows and update their indexes. updateForgotten stores up to which change rows are missing,
// so that an index that has not read them by then is loaded again. A periodic job calls Sweep.
func (s *Service) Sweep(ctx context.Context) error {
	last, _, err := readState(ctx, s.db)
	if err != nil {
		return err
	}
	s.lastSweep.mu.Lock()
	upTo := s.lastSweep.change
	s.lastSweep.change = last
	s.lastSweep.mu.Unlock()
	if upTo == 0 {
		return nil
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, deleteSwept, upTo)
		if err == nil && n > 0 {
			_, err = tx.Exec(ctx, updateForgotten, upTo)
		}
		return err
	})
}
