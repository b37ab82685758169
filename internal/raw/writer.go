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

// classWriter appends the records of one retention class to one segment after another.
type classWriter struct {
	class  int64 // seconds
	folder folder
	log    *slog.Logger
	spawn  func(func()) // starts the goroutine of a segment; Segments.Close waits for these goroutines
	limit  int64        // a segment that has reached this size in octets is full

	// mu guards seg and closed. It is held while a batch is encoded, so that offsets are assigned in the order of writing.
	// It is not held during other operations of the disk than the creation of a file.
	mu     sync.Mutex
	seg    *segment // nil: none is open
	closed bool
}

// append begins to write the records whose indices are in which, and stores their references in refs. They are on stable
// storage when the returned group is done without an error. After an error the segment is closed, and the next call
// begins another.
func (w *classWriter) append(at time.Time, records []Record, which []int, refs []Ref) (*group, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	seg, err := w.segmentFor(at)
	if err != nil {
		return nil, err
	}
	g, err := seg.append(w.encode(seg, records, which, refs), w.spawn)
	if err != nil {
		w.retireSegment()
		return nil, err
	}
	return g, nil
}

// encode returns the pieces to write for records, and stores their references in refs. Small records are in one piece
// together. Each large record is a piece of its own, which aliases the record's data.
func (w *classWriter) encode(seg *segment, records []Record, which []int, refs []Ref) (pieces []piece) {
	size := int64(len(magic))
	for _, i := range which {
		if n := len(records[i].Data); n < largeRecord {
			size += sizeOf(n)
		}
	}
	at := seg.size // no lock is needed, since only classWriter.append changes the size
	text := getBuffer(roundUp(size, blockSize))
	if at == 0 {
		text = append(text, magic...)
	}
	for _, i := range which {
		if data := records[i].Data; len(data) < largeRecord {
			refs[i] = segmentRef{name: seg.name, offset: at + int64(len(text)), length: int64(len(data)), seal: records[i].seal}.ref()
			text = padZeros(appendRecord(text, data), headerSize)
		}
	}
	if len(text) > 0 {
		pieces = append(pieces, piece{blocks: padZeros(text, blockSize)})
		at += pieces[0].size()
	}
	for _, i := range which {
		if data := records[i].Data; len(data) >= largeRecord {
			refs[i] = segmentRef{name: seg.name, offset: at, length: int64(len(data)), seal: records[i].seal}.ref()
			pieces = append(pieces, piece{record: data})
			at += pieces[len(pieces)-1].size()
		}
	}
	return pieces
}

// buffers is the pool of buffers in which batches are encoded and from which they are written. They are as large as batches
// of mail, so allocating one for each batch would cost more than encoding.
var buffers sync.Pool

// getBuffer returns an empty slice with a capacity of at least size octets, aligned for direct I/O. It is returned to the
// pool with putBuffer.
func getBuffer(size int64) []byte {
	if b, ok := buffers.Get().(*[]byte); ok && int64(cap(*b)) >= size {
		return (*b)[:0]
	}
	return alignedBuffer(max(size, minBuffer))
}

// putBuffer returns a buffer to the pool. Buffers above maxPooledBuffer are left to the garbage collector.
func putBuffer(b []byte) {
	if cap(b) <= maxPooledBuffer {
		buffers.Put(&b)
	}
}

// alignedBuffer returns an empty slice with a capacity of size that begins where direct I/O requires it: at a block's
// boundary in memory.
func alignedBuffer(size int64) []byte {
	all := make([]byte, size+blockSize)
	skip := int64(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) & (blockSize - 1)) //nolint:gosec // only the numeric value is used
	return all[skip : skip : skip+size]
}

// segmentFor returns the open segment if its period is that of the time at which the records arrived, or the next one;
// otherwise it begins a new segment. In the segment of the next period, records are kept longer, which is allowed, but
// never shorter. The caller holds the lock.
func (w *classWriter) segmentFor(at time.Time) (*segment, error) {
	q := periodOf(at)
	if s := w.seg; s != nil && (s.period == q || s.period == q+1) && s.accepts(w.limit) {
		return s, nil
	}
	w.retireSegment()
	n := name{class: w.class, period: q, nonce: nonce()}
	f, err := w.folder.create(n.file())
	if errors.Is(err, fs.ErrExist) { // happens once in 2³² files, since the nonce has 32 bits
		n.nonce = nonce()
		f, err = w.folder.create(n.file())
	}
	if err != nil {
		return nil, fmt.Errorf("make a segment for raw messages: %w", err)
	}
	w.seg = &segment{name: n, folder: w.folder, file: f, log: w.log}
	return w.seg, nil
}

// retireSegment retires the open segment, whose file is closed when it has been synced. The caller holds the lock.
func (w *classWriter) retireSegment() {
	if w.seg != nil {
		w.seg.retire()
		w.seg = nil
	}
}

// retireExpired retires the open segment if the retention of all its records is over, so that Sweep can remove the file.
func (w *classWriter) retireExpired(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seg != nil && !now.Before(w.seg.expires()) {
		w.retireSegment()
	}
}

// close makes later appends fail with ErrClosed. It does not wait for the segment.
func (w *classWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.retireSegment()
}

// nonce returns a random number for the name of a segment.
func nonce() uint32 {
	var b [4]byte
	rand.Read(b[:]) // never fails, as crypto/rand documents
	return binary.BigEndian.Uint32(b[:])
}
