package inbound

import (
	"context"

	"github.com/gonebox/gonebox/internal/buffer"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/raw"
)

// encodeRoom is how many times its size the encoding of a mail takes at most, but for rare ones: the draft, and the raw message with the
// room that its compression asks for. A buffer that had to grow would be given back as the smaller one that it was taken for, and that
// happened with each mail of 64 KiB.
const encodeRoom = 3

// encode encodes what is stored of a mail: the draft, and the raw message behind its trace fields. It stages a large mail, so that
// its batch inserts only the rows.
func (s *Service) encode(ctx context.Context, m *mail, c message.Content, trace, data []byte) error {
	m.buf = buffer.Get(min(encodeRoom*len(data), buffer.Max))
	var err error
	if m.draft, *m.buf, err = s.Messages.NewDraft(*m.buf, c, len(m.keys)); err != nil {
		return err
	}
	if m.draft.Large() {
		if err := s.Messages.Stage(ctx, m.draft); err != nil {
			return err
		}
		*m.buf = nil // a staged draft no longer uses it; a raw message of this size gets memory of its own
	}
	begin := len(*m.buf)
	*m.buf = appendRecord(*m.buf, trace, data)
	m.record.Data = (*m.buf)[begin:]
	if m.draft.Large() {
		return s.stageRaw(ctx, m)
	}
	return nil
}

// release returns the mail's buffer. Neither its draft nor its raw message may be used afterwards, so its batch must have replied.
func (m *mail) release() {
	if m.buf != nil {
		buffer.Put(m.buf)
	}
	m.buf, m.draft, m.record.Data = nil, nil, nil
}

// compressFrom is the size in octets from which a raw message is compressed. Below it, writing a few KiB more costs less than
// compressing, since the raw messages of a batch are written at once (docs/decisions/0027).
const compressFrom = 16 << 10

// appendRecord appends a raw message in the form in which it is stored.
func appendRecord(dst, trace, data []byte) []byte {
	if len(data) < compressFrom {
		return raw.Store(dst, trace, data)
	}
	return raw.CompressChunks(dst, trace, data)
}
