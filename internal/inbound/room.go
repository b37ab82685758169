package inbound

import (
	"context"
	"slices"
	"sync"

	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/raw"
)

// What is kept of a mail is about as large as the mail, and of no use once it is stored: the memory is used again, which
// spares clearing and collecting it.
var (
	rooms   = sync.Pool{New: func() any { return new([]byte) }}
	decoded = sync.Pool{New: func() any { return new([]byte) }} // what attachments are decoded in
)

// lend borrows room for n octets from a pool. giveBack ends the loan.
func lend(pool *sync.Pool, n int) *[]byte {
	room := pool.Get().(*[]byte)
	*room = slices.Grow((*room)[:0], n)[:n]
	return room
}

func giveBack(pool *sync.Pool, room *[]byte) {
	if cap(*room) <= largestRoom {
		pool.Put(room)
	}
}

// largestRoom is the most that is kept for another mail.
const largestRoom = 1 << 20

// fill makes ready what is stored of a mail: the draft, and the raw message with its trace. It stages a large mail, of which the set
// then stores the rows alone.
func (s *Service) fill(ctx context.Context, m *mail, c message.Content, trace, data []byte) error {
	m.room = lend(&rooms, 0)
	m.draft, *m.room = s.Messages.NewDraft(*m.room, c, len(m.keys))
	if m.draft.Large() {
		if err := s.Messages.Stage(ctx, m.draft); err != nil {
			return err
		}
		*m.room = nil // what the draft was made in is free, and the raw message gets as much as it takes
	}
	begin := len(*m.room)
	*m.room = pack(*m.room, trace, data)
	m.record.Data = (*m.room)[begin:]
	if m.draft.Large() {
		return s.stageRaw(ctx, m)
	}
	return nil
}

// release gives the memory back. The mail must be settled, and its draft and its raw message are looked at no more.
func (m *mail) release() {
	if m.room != nil {
		giveBack(&rooms, m.room)
	}
	m.room, m.draft, m.record.Data = nil, nil, nil
}

// packFrom is the size from which on a raw message is worth compressing: raw messages of a set are written at once, past the
// system's cache, so that a few KiB more cost less than it takes to save them (docs/decisions/0027).
const packFrom = 16 << 10

// pack appends a raw message as it is stored.
func pack(dst, trace, data []byte) []byte {
	if len(data) < packFrom {
		return raw.Store(dst, trace, data)
	}
	return raw.CompressChunks(dst, trace, data)
}
