package inbound

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/raw"
)

// A large mail does not go through a set as others do: what it takes seconds to write would keep all others waiting. Its content
// and its raw message are stored first, by the goroutine that delivers it, in pieces between which sets are stored; nothing refers to
// them that a client sees. Its rows then go into a set like those of any mail (docs/decisions/0038).

// stagedFor is how long the raw message of a large mail may wait for the rows: its retention counts from them,
// and package raw keeps it for as much longer.
const stagedFor = 15 * time.Second

// stageRaw stores the raw message of a large mail. If the rows never come nothing reaches it, and it goes with its file.
func (s *Service) stageRaw(ctx context.Context, m *mail) error {
	select {
	case s.large <- struct{}{}:
		defer func() { <-s.large }()
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", db.ErrUnavailable, ctx.Err())
	}
	only := []*mail{m}
	synced, err := s.write(only)
	if err != nil {
		return err
	}
	if s.DB.Engine() == db.Postgres {
		err = s.DB.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error { return s.keepRawTx(ctx, tx, only) }, nil)
	}
	if err == nil {
		err = durable(synced)
	}
	if err != nil {
		return err
	}
	m.staged = s.Clock.Now()
	giveBack(&rooms, m.room) // a large mail may wait without it
	m.room, m.record.Data = nil, nil
	return nil
}

// discard removes what was stored ahead of a large mail that was not stored in the end. Where that fails it is swept later.
func (s *Service) discard(ctx context.Context, m *mail) {
	if m.draft == nil {
		return
	}
	if err := s.Messages.Discard(db.Freeing(context.WithoutCancel(ctx)), m.draft); err != nil {
		s.Logger.WarnContext(ctx, "content of a refused mail not removed, it is swept later", "error", err)
	}
}

// staged are raw messages that are stored already.
func (m *mail) isStaged() bool { return !m.staged.IsZero() }

// unstaged returns the references and the records of the raw messages that a set stores itself.
func unstaged(set []*mail) (mails []*mail, refs []raw.Ref, records []raw.Record) {
	for _, m := range set {
		if !m.isStaged() {
			mails, refs, records = append(mails, m), append(refs, m.ref), append(records, m.record)
		}
	}
	return mails, refs, records
}
