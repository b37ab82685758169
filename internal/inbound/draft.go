package inbound

import (
	"context"

	"github.com/gonebox/gonebox/internal/buffer"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/raw"
)

// encodeFactor is the size of a mail's buffer as a multiple of the mail's own size: enough, except for rare mails, for the draft, the raw
// message and the spare capacity that compression needs. A smaller buffer would be grown, and then return to the pool of the smaller
// size; with a factor of 2 this happened for every mail of 64 KiB.
const encodeFactor = 3

// encode encodes what is stored of a mail: the draft, and the raw message behind its trace fields. It stages a large mail, so that
// its batch inserts only the rows.
func (s *Service) encode(ctx context.Context, m *mail, c message.Content, trace, data []byte) error {
	m.buf = buffer.Get(min(encodeFactor*len(data), buffer.Max))
	if m.project != nil { // erased with the rows, not with the other raw messages of its retention
		c.Raw = appendRecord(nil, trace, data)
		m.ref = raw.InRow(len(c.Raw))
	}
	m.draft, *m.buf = s.Messages.NewDraft(*m.buf, c, len(m.keys))
	if m.draft.Large() {
		if err := s.Messages.Stage(ctx, m.draft); err != nil {
			return err
		}
		*m.buf = nil // a staged draft no longer uses it; a raw message of this size gets memory of its own
	}
	if m.project != nil {
		return nil
	}
	begin := len(*m.buf)
	*m.buf = appendRecord(*m.buf, trace, data)
	m.record = raw.Seal(m.record.Class, (*m.buf)[begin:])
	if m.draft.Large() {
		return s.stageRaw(ctx, m)
	}
	return nil
}

// release returns the mail's buffer to the pool. Neither its draft nor its raw message may be used afterwards, so it must not be called
// before the batch has replied. Calling it again has no effect.
func (m *mail) release() {
	if m.buf != nil {
		buffer.Put(m.buf)
	}
	m.buf, m.draft, m.record.Data = nil, nil, nil
}

// compressFrom is the size in octets from which a raw message is compressed. Compressing a smaller one would cost more than writing a few
// KiB more, since the raw messages of a batch are written at once (docs/decisions/0027).
const compressFrom = 16 << 10

// appendRecord appends a raw message in the form in which it is stored.
func appendRecord(dst, trace, data []byte) []byte {
	if len(data) < compressFrom {
		return raw.Store(dst, trace, data)
	}
	return raw.CompressChunks(dst, trace, data)
}
