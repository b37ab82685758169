package inbound

import (
	"context"
	"errors"
	"log/slog"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

// reply hands the mails of a batch back to their senders' goroutines. A non-nil err is the error of the whole batch;
// otherwise each mail has its own.
func reply(mails []*mail, err error) {
	for _, m := range mails {
		if err != nil {
			m.err = err
		}
		close(m.done)
	}
}

// rejectQueued replies with err to all queued mails, after a batch for which the database did not respond in time. If they were stored
// in batches as usual, each batch would wait for the timeouts of all batches before it, which is longer than senders wait.
func (s *Service) rejectQueued(err error) {
	for {
		select {
		case m := <-s.queue:
			reply([]*mail{m}, err)
		default:
			return
		}
	}
}

// problemOf logs an error of the storage and returns the problem that the sender gets instead. It returns other errors as
// they are.
func (s *Service) problemOf(ctx context.Context, err error) error {
	if !errors.Is(err, db.ErrUnavailable) {
		return err
	}
	if errors.Is(err, db.ErrFull) {
		s.Logger.WarnContext(ctx, "mail deferred, the disk is full", "error", err)
		return problem.New(problem.MailStorageFull)
	}
	s.Logger.ErrorContext(ctx, "storing a mail failed", "error", err)
	return problem.New(problem.ServerUnavailable)
}

// logStored logs a mail that was stored.
func (s *Service) logStored(ctx context.Context, m *mail, octets int) {
	if s.Logger.Enabled(ctx, slog.LevelDebug) {
		s.Logger.DebugContext(ctx, "mail stored", "messages", m.messageIDs(), "bytes", octets)
	}
}
