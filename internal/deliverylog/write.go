package deliverylog

import (
	"context"
	"slices"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
)

// Run writes entries until ctx ends, then those that are still pending. A crash loses those of the last 200 ms.
//
// A failed batch is dropped and not retried: it would block those that follow. The failure is logged once until a batch
// succeeds. When ctx ends, the rest is written until a batch fails, so that a shutdown is not delayed by a dead
// database.
func (s *Service) Run(ctx context.Context) {
	for failing := false; s.collect(ctx); {
		err := s.flush(context.WithoutCancel(ctx))
		if err != nil && !failing {
			s.Logger.WarnContext(ctx, "writing the delivery log failed, its entries are dropped until it succeeds", "error", err)
		}
		failing = err != nil
		if s.isPending() {
			s.signal()
		}
	}
	for s.isPending() && s.flush(context.WithoutCancel(ctx)) == nil {
		continue // with the next batch
	}
}

// collect waits until there are entries to write, and then a moment for more. It returns false when ctx has ended. The
// moment lets entries share a transaction.
func (s *Service) collect(ctx context.Context) bool {
	select {
	case <-s.wake:
	case <-ctx.Done():
		return false
	}
	pause := clock.System().NewTimer(flushEvery) // not the clock that a test may stop
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// signal wakes Run. The channel has a capacity of one: a signal that is there already is enough.
func (s *Service) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// isPending reports whether entries wait to be written.
func (s *Service) isPending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) > 0
}

// flush writes at most batchMax entries. If that fails they are dropped: the next mail is more interesting than the
// last. Only Run calls it, so the first n entries stay the same until they are deleted here; Record appends meanwhile.
func (s *Service) flush(ctx context.Context) error {
	n, trim := s.next()
	if n == 0 {
		return nil
	}
	err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := insertTx(ctx, tx, s.front(n)); err != nil {
			return err
		}
		return trimTx(ctx, tx, trim)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = slices.Delete(s.pending, 0, n)
	if err != nil {
		s.dropped.Add(int64(n))
	}
	return err
}

// next returns how many entries to write, and the addresses that may have more than ListMax entries then. An address is
// trimmed after every trimEvery entries, since the statement costs more than an insertion. So an address has at most
// ListMax + trimEvery entries for each process.
func (s *Service) next() (n int, trim []hash) {
	now := s.Clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	n = min(len(s.pending), batchMax)
	for _, p := range s.pending[:n] {
		count, _ := s.counts.Get(p.address, now)
		if count++; count >= trimEvery {
			trim, count = append(trim, p.address), 0
		}
		s.counts.Put(p.address, count, 1, now.Add(Retention))
	}
	return n, trim
}

// front returns the first n pending entries without those of erased mailboxes. It is called in the transaction that writes them, which on
// SQLite runs before or after one that erases a mailbox, never within.
func (s *Service) front(n int) []pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.pending[:n]), func(p pending) bool { return p.erased })
}

// EraseTx erases the entries of addresses whose mailboxes are erased. Entries that are pending are marked before the
// transaction is committed: if it fails they are lost, which is the safe side. A transaction has a few hundred
// addresses at most.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, addresses []string) error {
	hashes := make([]hash, len(addresses))
	for i, a := range addresses {
		hashes[i] = s.hash(a)
	}
	s.mu.Lock()
	for i := range s.pending {
		if slices.Contains(hashes, s.pending[i].address) {
			s.pending[i].erased = true
		}
	}
	s.mu.Unlock()
	return eraseTx(ctx, tx, hashes)
}

// Sweep deletes entries that are older than Retention, and the oldest beyond the bounds of the log. The index of the
// list is the value of has_mailbox. A periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	for hasMailbox, rows := range []int{unknownRows, mailboxRows} {
		oldest, err := oldestKept(ctx, s.DB, hasMailbox, rows, s.Clock.Now().Add(-Retention))
		if err != nil {
			return err
		}
		for done := false; !done; {
			err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
				done, err = sweepTx(ctx, tx, hasMailbox, oldest)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
