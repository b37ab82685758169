package inbound

import (
	"slices"
	"sync"

	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/original"
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

// fill makes ready what is stored of a mail: the draft, and the original with its trace.
func (m *mail) fill(messages Messages, c message.Content, trace, data []byte) {
	m.room = lend(&rooms, 0)
	draft, room := messages.NewDraft(*m.room, c)
	begin := len(room)
	room = pack(room, trace, data)
	*m.room, m.draft, m.record.Data = room, draft, room[begin:]
}

// release gives the memory back. The mail must be settled, and its draft and its original are looked at no more.
func (m *mail) release() {
	giveBack(&rooms, m.room)
	m.room, m.draft, m.record.Data = nil, nil, nil
}

// packFrom is the size from which on an original is worth compressing: originals of a set are written at once, past the
// system's cache, so that a few KiB more cost less than it takes to save them (docs/decisions/0027).
const packFrom = 16 << 10

// pack appends an original as it is stored.
func pack(dst, trace, data []byte) []byte {
	if len(data) < packFrom {
		return original.Store(dst, trace, data)
	}
	return original.Compress(dst, trace, data)
}
