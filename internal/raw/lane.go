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

// lane appends the records of one retention class to one segment after another.
type lane struct {
	class  int64 // seconds
	folder folder
	log    *slog.Logger
	spawn  func(func()) // starts the goroutine of a segment; Close of Segments waits for these goroutines
	limit  int64        // a segment that has reached this size in octets is full

	// mu guards seg and closed, and is held while a batch is encoded, so that offsets are assigned in the order of
	// writing. It is never held while the disk is waited for, except to create a file.
	mu     sync.Mutex
	seg    *segment // nil: none is open
	closed bool
}

// append begins to write the data of records whose indices are in which, and stores their references in refs. The
// group that it returns is done when they are on stable storage. After an error the segment is given up, and the next
// call begins another.
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

// encode returns what is written at once, and stores the references to it: small records together in one piece, each
// large one in a piece of its own, which aliases the record's data.
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

// rooms are buffers that batches are encoded in and written from. They are as large as batches of mail, so allocating
// one for each would cost more than encoding.
var rooms sync.Pool

// lend returns an empty slice with a capacity of size or more, aligned for direct I/O. giveBack takes it back.
func lend(size int64) []byte {
	if room, ok := rooms.Get().(*[]byte); ok && int64(cap(*room)) >= size {
		return (*room)[:0]
	}
	return aligned(max(size, minBuffer))
}

// giveBack makes a buffer of lend available again. Very large ones are left to the garbage collector.
func giveBack(room []byte) {
	if cap(room) <= keepBuffer {
		rooms.Put(&room)
	}
}

// aligned returns an empty slice with a capacity of size that begins where direct I/O requires it: at a block's
// boundary in memory.
func aligned(size int64) []byte {
	all := make([]byte, size+blockSize)
	skip := int64(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) & (blockSize - 1)) //nolint:gosec // only its number is looked at
	return all[skip : skip : skip+size]
}

// segmentFor returns the open segment if it fits the time, otherwise a new one. The period is when the records
// arrived: a batch that comes late may enter the segment of the next period, where it is kept longer, never shorter.
// The caller holds the lock.
func (l *lane) segmentFor(at time.Time) (*segment, error) {
	q := periodOf(at)
	if s := l.seg; s != nil && (s.period == q || s.period == q+1) && s.fit(l.limit) {
		return s, nil
	}
	l.drop()
	n := name{class: l.class, period: q, nonce: nonce()}
	f, err := l.folder.create(n.file())
	if errors.Is(err, fs.ErrExist) { // the nonce has 32 bits: once in four thousand million files
		n.nonce = nonce()
		f, err = l.folder.create(n.file())
	}
	if err != nil {
		return nil, fmt.Errorf("make a segment for raw messages: %w", err)
	}
	l.seg = &segment{name: n, folder: l.folder, file: f, log: l.log}
	return l.seg, nil
}

// drop gives up the open segment, which is closed when it has been synced. The caller holds the lock.
func (l *lane) drop() {
	if l.seg != nil {
		l.seg.retire()
		l.seg = nil
	}
}

// dropExpired gives up the open segment if all in it is past its time, so that Sweep can remove the file.
func (l *lane) dropExpired(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seg != nil && !now.Before(l.seg.expires()) {
		l.drop()
	}
}

// close makes later appends fail with ErrClosed. It does not wait for the segment.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.drop()
}

// nonce returns a random number for the name of a segment.
func nonce() uint32 {
	var b [4]byte
	rand.Read(b[:]) // never fails, as crypto/rand documents
	return binary.BigEndian.Uint32(b[:])
}
