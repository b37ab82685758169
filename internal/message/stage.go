package message

import (
	"context"
	"fmt"
)

// Stage stores the content of a large draft ahead of its copies, in several transactions. InsertTx or Discard must follow;
// SweepStaged removes the content that a process leaves if it dies in between. Afterwards the draft no longer aliases the data of its files.
func (s *Service) Stage(ctx context.Context, d *Draft) error {
	if len(d.pending) == 0 {
		return nil
	}
	staged, err := s.stager.Stage(ctx, s.clock.Now(), d.pending)
	if err != nil {
		return fmt.Errorf("store a large mail: %w", err)
	}
	d.pending, d.staged = nil, append(d.staged, staged)
	return nil
}

// Discard removes the content that Stage stored for a draft if no copy of the draft was stored.
func (s *Service) Discard(ctx context.Context, d *Draft) error {
	for len(d.staged) > 0 {
		if err := s.stager.Discard(ctx, d.staged[0]); err != nil {
			return err
		}
		d.staged = d.staged[1:]
	}
	return nil
}

// SweepStaged removes what was staged by processes that died before they could use it.
func (s *Service) SweepStaged(ctx context.Context) error {
	_, err := s.stager.Sweep(ctx, s.clock.Now())
	return err
}
