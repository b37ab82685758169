package raw

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"
	"unsafe"
)

// lane appends the records of one class.
type lane struct {
	class  int64 // seconds
	folder folder
	log    *slog.Logger
	spawn  func(func())
	limit  int64 // a segment that has reached it is full

	mu     sync.Mutex
	seg    *segment // nil: none is open
	closed bool
}

// append begins to write the data of records, the ones that which names, and stores their references.
func (l *lane) append(at time.Time, records []Record, which []int, refs []Ref) (*group, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	seg, err := l.segmentFor(at)
	if err != nil {
		return nil, err
	}
	g, err := seg.append(l.encode(seg, records, which, refs), l.spawn)
	if err != nil {
		l.drop()
		return nil, err
	}
	return g, nil
}

// encode makes what is written at once, and the references to it: small records together, each large one by itself.
func (l *lane) encode(seg *segment, records []Record, which []int, refs []Ref) (pieces []piece) {
	size := int64(len(magic))
	for _, i := range which {
		if n := len(records[i].Data); n < largeRecord {
			size += sizeOf(n)
		}
	}
	at := seg.size // only the lane writes, so only it changes the size
	text := lend(roundUp(size, blockSize))
	if at == 0 {
		text = append(text, magic...)
	}
	for _, i := range which {
		if data := records[i].Data; len(data) < largeRecord {
			refs[i] = place{name: seg.name, offset: at + int64(len(text)), length: int64(len(data))}.ref()
			text = fill(appendRecord(text, data), headerSize)
		}
	}
	if len(text) > 0 {
		pieces = append(pieces, piece{blocks: fill(text, blockSize)})
		at += pieces[0].size()
	}
	for _, i := range which {
		if data := records[i].Data; len(data) >= largeRecord {
			refs[i] = place{name: seg.name, offset: at, length: int64(len(data))}.ref()
			pieces = append(pieces, piece{record: data})
			at += pieces[len(pieces)-1].size()
		}
	}
	return pieces
}

// rooms are what is written from: as large as sets of mail, and of no use once it is written.
var rooms sync.Pool

// lend returns an empty slice with a capacity of size, aligned, which giveBack takes back.
func lend(size int64) []byte {
	if room, ok := rooms.Get().(*[]byte); ok && int64(cap(*room)) >= size {
		return (*room)[:0]
	}
	return aligned(max(size, minBuffer))
}

func giveBack(room []byte) {
	if cap(room) <= keepBuffer {
		rooms.Put(&room)
	}
}

// aligned is empty, with a capacity of size that begins where direct writing wants it: at a block's boundary in memory.
func aligned(size int64) []byte {
	all := make([]byte, size+blockSize)
	skip := int64(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) & (blockSize - 1)) //nolint:gosec // only its number is looked at
	return all[skip : skip : skip+size]
}

// segmentFor returns the open segment if it fits the time, else a new one. A set that comes late may still
// enter the next period's segment: it is then kept longer, never shorter.
func (l *lane) segmentFor(at time.Time) (*segment, error) {
	q := periodOf(at)
	if s := l.seg; s != nil && (s.period == q || s.period == q+1) && s.fit(l.limit) {
		return s, nil
	}
	l.drop()
	n := name{class: l.class, period: q, nonce: nonce()}
	f, err := l.folder.create(n.file())
	if errors.Is(err, fs.ErrExist) { // once in four thousand million
		n.nonce = nonce()
		f, err = l.folder.create(n.file())
	}
	if err != nil {
		return nil, fmt.Errorf("make a segment for raw messages: %w", err)
	}
	l.seg = &segment{name: n, folder: l.folder, file: f, log: l.log}
	return l.seg, nil
}

// drop lets go of the open segment.
func (l *lane) drop() {
	if l.seg != nil {
		l.seg.retire()
		l.seg = nil
	}
}

// dropExpired lets go of the open segment if all in it is past its time.
func (l *lane) dropExpired(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seg != nil && !now.Before(l.seg.expires()) {
		l.drop()
	}
}

func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.drop()
}

func nonce() uint32 {
	var b [4]byte
	rand.Read(b[:]) // never fails, as crypto/rand documents
	return binary.BigEndian.Uint32(b[:])
}
