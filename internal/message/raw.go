package message

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/raw"
)

// Raw is a raw message: its bytes as received behind the fields that this server put in front.
type Raw struct {
	*raw.Reader
	service *Service
	box     id.Mailbox
	message id.Message
	checked time.Time // when the message was last known to exist
}

// recheckEvery is how often a Raw that is read slowly checks that its message still exists. It bounds how long a client can read on after the
// message was erased.
const recheckEvery = 5 * time.Second

// Raw returns the raw message of m. Errors: message.not_found, message.raw_expired.
func (s *Service) Raw(ctx context.Context, box id.Mailbox, m id.Message) (*Raw, error) {
	var ref raw.Ref
	var until int64
	if err := s.db.QueryRow(ctx, selectRaw, box, m).Scan(&ref, &until); err != nil {
		return nil, missing(err, problem.MessageNotFound)
	}
	now := s.clock.Now()
	if now.UnixMicro() >= until {
		return nil, problem.New(problem.MessageRawExpired)
	}
	var r *raw.Reader
	var err error
	if ref.IsInRow() {
		r, err = s.rawInRow(ctx, box, m, ref)
	} else {
		r, err = s.rawMessages.NewReader(ctx, ref)
	}
	if err != nil {
		return nil, rawFault(m, err)
	}
	return &Raw{Reader: r, service: s, box: box, message: m, checked: now}, nil
}

// rawInRow returns a reader of a raw message that is stored with the rows of its message. Errors: raw.ErrGone, raw.ErrDamaged.
func (s *Service) rawInRow(ctx context.Context, box id.Mailbox, m id.Message, ref raw.Ref) (*raw.Reader, error) {
	var c storedCell
	if err := s.db.QueryRow(ctx, selectAttachment, box, m, rawFile).Scan(c.columns()...); err != nil {
		return nil, missing(err, problem.MessageNotFound)
	}
	key, shared, err := c.key()
	if err != nil {
		return nil, err
	}
	if shared {
		return raw.NewReaderFrom(ctx, ref, func(ctx context.Context, p []byte, off int64) error {
			octets, err := blob.Read(ctx, s.db, key, off, int64(len(p)))
			if errors.Is(err, blob.ErrNotFound) || err == nil && len(octets) < len(p) {
				return raw.ErrGone
			}
			copy(p, octets)
			return err
		})
	}
	record, err := c.content()
	if err != nil {
		return nil, err
	}
	return raw.NewReaderFrom(ctx, ref, func(_ context.Context, p []byte, off int64) error {
		if off+int64(len(p)) > int64(len(record)) {
			return raw.ErrDamaged
		}
		copy(p, record[off:])
		return nil
	})
}

// Next is that of the reader. Errors: message.raw_expired where the raw message was erased meanwhile; io.EOF at its end.
func (r *Raw) Next(ctx context.Context) ([]byte, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	octets, err := r.Reader.Next(ctx)
	if err != nil {
		return nil, rawFault(r.message, err)
	}
	return octets, nil
}

// check fails with message.raw_expired if the message has been erased, though a Reader, which has the key, could still read it.
func (r *Raw) check(ctx context.Context) error {
	now := r.service.clock.Now()
	if now.Sub(r.checked) < recheckEvery {
		return nil
	}
	stored, err := r.service.Stored(ctx, r.service.db, r.box, r.message)
	if err != nil {
		return fmt.Errorf("look for the message %s: %w", r.message, err)
	}
	if !stored {
		return problem.New(problem.MessageRawExpired)
	}
	r.checked = now
	return nil
}

func rawFault(m id.Message, err error) error {
	if _, ok := problem.From(err); ok {
		return err
	}
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, raw.ErrGone):
		return problem.New(problem.MessageRawExpired)
	}
	return fmt.Errorf("read the raw message of %s: %w", m, err)
}

// ReadAll returns the octets that follow, which were Size at first. Errors: message.raw_expired where the raw message was erased meanwhile.
func (r *Raw) ReadAll(ctx context.Context) ([]byte, error) {
	all := make([]byte, 0, max(r.Size(), 0)) // it is not known of a short one
	for {
		octets, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, octets...)
	}
}
