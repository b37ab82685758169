package sink

import (
	"context"
	"math"
	"sync"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Change is a change of the sink's mail, for clients that follow it. A mail that changed several times since is one
// Change, in its last state.
type Change struct {
	ID      id.SinkMail
	Mail    *Mail    // nil unless New
	New     bool     // it has arrived; otherwise it was marked, tagged or deleted
	Seen    bool     // unless Deleted
	Tags    []string // unless New or Deleted
	Deleted bool
}

// ChangeReader reads the changes of the sink in pages, for clients that follow them. It reads in rounds: a round has
// what changed between two states of the sink, first the mails that arrived and then the other mails that were marked,
// tagged or deleted. It reads the database and not the index, and holds no row of it between two pages. It belongs to one
// goroutine.
//
// Rows that Sweep has removed are missing, so a caller that reads less often than Sweep runs may miss deletions.
type ChangeReader struct {
	s       *Service
	project id.Project // whose mail it reads; "": all
	since   int64      // the last change before the round
	upTo    int64      // the last change of the round; the same as since between two rounds

	arrivals bool  // whether the arrivals of the round are still to be read
	arrived  int64 // the last mail of the round that was read among the arrivals, by its number
	change   int64 // the last mail of the round that was read among the others, by its change and its number
	number   int64
}

// ChangesPage is the most changes that ChangeReader.Next reads at once.
const ChangesPage = 200

// Follow returns a reader of what changes from now on, of the project of ctx if it has one.
func (s *Service) Follow(ctx context.Context) (*ChangeReader, error) {
	last, _, err := readState(ctx, s.db)
	if err != nil {
		return nil, err
	}
	return &ChangeReader{s: s, project: ProjectOf(ctx), since: last, upTo: last}, nil
}

// Since returns the number of the last change before those that Next reads.
func (r *ChangeReader) Since() int64 { return r.since }

// UpTo returns the number of the last change of the round that Next has read a part of.
func (r *ChangeReader) UpTo() int64 { return r.upTo }

// Next reads a page of at most ChangesPage changes and calls fn with each. The page ends early where fn returns false;
// the change that fn was called with counts as read. more reports whether the round has more pages. Without a change it
// reads a single row, so it can be called often.
func (r *ChangeReader) Next(ctx context.Context, fn func(Change) bool) (more bool, err error) {
	if r.upTo == r.since {
		last, _, err := readState(ctx, r.s.db)
		if err != nil || last == r.since {
			return false, err
		}
		r.begin(last)
	}
	return r.page(ctx,
		func(v *row) bool { return fn(Change{ID: v.ID, Mail: &v.Mail, New: true, Seen: v.Seen}) },
		func(v state) bool { return fn(Change{ID: v.id, Seen: v.seen, Tags: v.tags, Deleted: v.deleted}) })
}

// begin begins a round that ends with the change numbered last.
func (r *ChangeReader) begin(last int64) {
	r.upTo, r.arrivals = last, true
	r.arrived = r.since
	r.change, r.number = r.since, math.MaxInt64 // the mails with the change since were read in the previous round
}

// page reads a page of the round: mails that arrived, or states of the others. It ends the round after its last page.
func (r *ChangeReader) page(ctx context.Context, arrived func(*row) bool, changed func(state) bool) (more bool, err error) {
	full, n := false, 0
	if r.arrivals {
		own, args := within(r.project, 4)
		err = forEachRow(ctx, r.s.db, func(v *row) bool {
			r.arrived = v.Number
			n++
			full = !arrived(v) || n == ChangesPage
			return !full
		}, selectArrived+own+firstMails, append([]any{r.arrived, r.upTo, ChangesPage}, args...)...)
		r.arrivals = full || err != nil
		return true, err
	}
	own, args := within(r.project, 6)
	err = forEachState(ctx, r.s.db, func(v state) bool {
		r.change, r.number = v.change, v.number
		n++
		full = !changed(v) || n == ChangesPage
		return !full
	}, selectChanged+own+firstChanges, append([]any{r.change, r.number, r.upTo, r.since, ChangesPage}, args...)...)
	if err == nil && !full {
		r.since = r.upTo
	}
	return full, err
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
