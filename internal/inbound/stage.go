package inbound

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/buffer"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/raw"
)

// Writing a large mail can take seconds, in which no other mail of its batch could be acknowledged. Its content and its raw message are
// therefore stored ahead of the batch, by the goroutine that delivers it, in pieces between which batches are stored. No row refers to
// them yet, so clients do not see them. The rows then join a batch like those of any mail (docs/decisions/0038).

// stagedFor is how long a staged raw message may wait for its rows. Its retention counts from the time at which the rows are inserted, so
// package raw keeps every record that much longer than its class says (raw.slack).
const stagedFor = 15 * time.Second

// stageRaw stores the raw message of a large mail, one mail at a time, and returns when it is on stable storage. If the rows never follow,
// no client can reach it, and it is erased together with its segment or partition.
func (s *Service) stageRaw(ctx context.Context, m *mail) error {
	select {
	case s.largeWrites <- struct{}{}:
		defer func() { <-s.largeWrites }()
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", db.ErrUnavailable, ctx.Err())
	}
	only := []*mail{m}
	waitSynced, err := s.appendRaw(only)
	if err != nil {
		return err
	}
	if s.DB.Engine() == db.Postgres {
		err = s.DB.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error { return s.insertRawTx(ctx, tx, only) }, nil)
	}
	if err == nil {
		err = waitSynced()
	}
	if err != nil {
		return err
	}
	m.stagedAt = s.Clock.Now()
	buffer.Put(m.buf) // the mail does not need the memory while it waits for its batch
	m.buf, m.record.Data = nil, nil
	return nil
}

// discard removes the staged content of a mail that was not stored in the end. Where that fails, a periodic job removes it.
func (s *Service) discard(ctx context.Context, m *mail) {
	if m.draft == nil {
		return
	}
	if err := s.Messages.Discard(db.Freeing(context.WithoutCancel(ctx)), m.draft); err != nil {
		s.Logger.WarnContext(ctx, "removing the content of a rejected mail failed, a periodic job will remove it", "error", err)
	}
}

// isStaged reports whether the raw message is stored already.
func (m *mail) isStaged() bool { return !m.stagedAt.IsZero() }

// unstaged returns the mails of a batch whose raw messages are not stored yet and not with the rows, and the references and records of these
// raw messages.
func unstaged(batch []*mail) (mails []*mail, refs []raw.Ref, records []raw.Record) {
	mails, refs, records = make([]*mail, 0, len(batch)), make([]raw.Ref, 0, len(batch)), make([]raw.Record, 0, len(batch))
	for _, m := range batch {
		if !m.isStaged() && m.project == nil {
			mails, refs, records = append(mails, m), append(refs, m.ref), append(records, m.record)
		}
	}
	return mails, refs, records
}
