package message

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/raw"
)

// Raw is a raw message: its bytes as received behind the fields that this server put in front.
type Raw struct {
	*raw.Reader
	message id.Message
}

// Raw returns the raw message of m. Errors: message.not_found, message.raw_expired.
func (s *Service) Raw(ctx context.Context, box id.Mailbox, m id.Message) (*Raw, error) {
	var ref raw.Ref
	var until int64
	if err := s.db.QueryRow(ctx, selectRaw, box, m).Scan(&ref, &until); err != nil {
		return nil, missing(err, problem.MessageNotFound)
	}
	if s.clock.Now().UnixMicro() >= until {
		return nil, problem.New(problem.MessageRawExpired)
	}
	r, err := s.rawMessages.NewReader(ctx, ref)
	if err != nil {
		return nil, rawFault(m, err)
	}
	return &Raw{r, m}, nil
}

// Next is that of the reader. Errors: message.raw_expired where the raw message was erased meanwhile; io.EOF at its end.
func (r *Raw) Next(ctx context.Context) ([]byte, error) {
	octets, err := r.Reader.Next(ctx)
	if err != nil {
		return nil, rawFault(r.message, err)
	}
	return octets, nil
}

func rawFault(m id.Message, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, raw.ErrGone):
		return problem.New(problem.MessageRawExpired)
	}
	return fmt.Errorf("read the raw message of %s: %w", m, err)
}
