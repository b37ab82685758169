package deliverylog

import (
	"context"
	"slices"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Run writes queued entries until ctx ends, and then those that are left. A crash loses the entries of the last
// flushEvery.
//
// A failed batch is dropped and not retried, because retries would delay the entries that follow. Only the first of
// consecutive failures is logged. After ctx has ended, Run stops at the first batch that fails, so that an unreachable
// database does not delay the shutdown.
func (s *Service) Run(ctx context.Context) {
	for failing := false; s.collect(ctx); {
		err := s.flush(context.WithoutCancel(ctx))
		if err != nil && !failing {
			s.Logger.WarnContext(ctx, "writing the delivery log failed, its entries are dropped until it succeeds", "error", err)
		}
		failing = err != nil
		if s.hasQueued() {
			s.signal()
		}
	}
	for s.hasQueued() && s.flush(context.WithoutCancel(ctx)) == nil {
		continue // with the next batch
	}
}

// collect waits until there are entries to write, and then flushEvery longer, so that more entries share a transaction.
// It returns false when ctx has ended.
func (s *Service) collect(ctx context.Context) bool {
	select {
	case <-s.wake:
	case <-ctx.Done():
		return false
	}
	pause := clock.System().NewTimer(flushEvery) // not s.Clock, which a test may stop
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// signal wakes Run. It does nothing if a signal is already in the channel.
func (s *Service) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// hasQueued reports whether the queue is not empty.
func (s *Service) hasQueued() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) > 0
}

// flush writes a batch and removes it from the queue, even if writing fails. Only Run calls it. The first n entries
// therefore stay in place during the transaction, while Record appends others.
func (s *Service) flush(ctx context.Context) error {
	n, trim := s.nextBatch()
	if n == 0 {
		return nil
	}
	err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		entries, err := s.existingTx(ctx, tx, s.batch(n))
		if err != nil {
			return err
		}
		if err := insertTx(ctx, tx, entries); err != nil {
			return err
		}
		return trimTx(ctx, tx, trim)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.Delete(s.queue, 0, n)
	if err != nil {
		s.dropped.Add(int64(n))
	}
	return err
}

// nextBatch returns how many entries to write, and the addresses to trim to ListMax entries. An address is trimmed after
// every trimEvery entries only, because the statement costs more than an insertion. With n processes, an address
// therefore has at most ListMax + n*trimEvery entries.
func (s *Service) nextBatch() (n int, trim []hash) {
	now := s.Clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	n = min(len(s.queue), batchMax)
	for i := range s.queue[:n] {
		p := &s.queue[i]
		count, _ := s.counts.Get(p.address, now)
		if count++; count >= trimEvery {
			trim, count = append(trim, p.address), 0
		}
		s.counts.Put(p.address, count, 1, now.Add(Retention))
	}
	return n, trim
}

// batch returns the first n queued entries without those of erased mailboxes. It is called in the transaction that
// writes them. On SQLite, write transactions do not run concurrently, so that EraseTx either has marked the entries
// before or deletes them after.
func (s *Service) batch(n int) []queuedEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.queue[:n]), func(p queuedEntry) bool { return p.erased })
}

// existingTx returns entries without those of mailboxes that another process has erased. Updates are serializable, so that
// one that erases the mailbox at the same time either is seen here or deletes the entries.
func (s *Service) existingTx(ctx context.Context, tx *db.Tx, entries []queuedEntry) ([]queuedEntry, error) {
	if s.Existing == nil {
		return entries, nil
	}
	var boxes []id.Mailbox
	for i := range entries {
		if p := &entries[i]; p.Mailbox != "" && !slices.Contains(boxes, p.Mailbox) {
			boxes = append(boxes, p.Mailbox)
		}
	}
	if len(boxes) == 0 {
		return entries, nil
	}
	existing, err := s.Existing(ctx, tx, boxes)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(entries, func(p queuedEntry) bool {
		return p.Mailbox != "" && !slices.Contains(existing, p.Mailbox)
	}), nil
}

// EraseTx deletes the entries of addresses whose mailboxes are erased, a few hundred at most. It marks queued entries
// before the transaction is committed. If the commit fails, these entries are lost, which is better than keeping entries
// of an erased mailbox.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, addresses []string) error {
	hashes := make([]hash, len(addresses))
	for i, a := range addresses {
		hashes[i] = s.hash(a)
	}
	s.mu.Lock()
	for i := range s.queue {
		if slices.Contains(hashes, s.queue[i].address) {
			s.queue[i].erased = true
		}
	}
	s.mu.Unlock()
	return eraseTx(ctx, tx, hashes)
}

// Sweep deletes the entries that are older than Retention, and the oldest ones if there are more than mailboxRows or
// unknownRows. A periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	for hasMailbox, rows := range []int{0: unknownRows, 1: mailboxRows} {
		oldest, err := cutoff(ctx, s.DB, hasMailbox, rows, s.Clock.Now().Add(-Retention))
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
