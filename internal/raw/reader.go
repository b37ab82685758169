package raw

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"

	"github.com/gonebox/gonebox/internal/buffer"
)

// Reader reads a raw message from its beginning. Between two calls of Next it keeps no file or connection open, so that
// a slow client occupies only the memory of a chunk and does not prevent the erasure of a file. It needs no Close. It
// must not be used by several goroutines at the same time.
type Reader struct {
	ref    Ref
	from   source
	length int64 // of the record's data
	size   int64 // of the message; -1 where it is not in chunks
	memory int64 // see Memory

	at    int64  // offset of the data of the next chunk in the record
	next  chunk  // its header
	index int64  // of the next chunk
	buf   []byte // the latest chunk
	done  bool   // a message that is not in chunks was returned
}

// source reads the data of one record from a segment, a Table or memory.
type source interface {
	// read fills p with the data of the record from offset off on. It checks no checksum: chunks have their own.
	// Errors: ErrGone, ErrDamaged.
	read(ctx context.Context, p []byte, off int64) error
	// whole returns all of the data, after checking it if the store keeps a checksum. Errors: ErrGone, ErrDamaged.
	whole(ctx context.Context) ([]byte, error)
}

// newReader returns a Reader. It reads the beginning of the record, which contains the size of the message.
func newReader(ctx context.Context, ref Ref, from source, length int64) (*Reader, error) {
	r := &Reader{ref: ref, from: from, length: length, size: -1}
	head := make([]byte, min(length, chunksHead+chunkHeader))
	if err := from.read(ctx, head, 0); err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref.Redacted(), err)
	}
	switch head[0] {
	case chunked:
		size, n := chunksSize(head)
		if n == 0 || n+chunkHeader > len(head) {
			return nil, fmt.Errorf("read raw message %s: %w: no size", ref.Redacted(), ErrDamaged)
		}
		r.size, r.at, r.next, r.memory = size, int64(n)+chunkHeader, parseChunk(head[n:]), ChunkSize
	case compressed:
		plain, err := s2.DecodedLen(head[1:])
		if err != nil || plain > MaxSize {
			return nil, fmt.Errorf("read raw message %s: %w: no size", ref.Redacted(), ErrDamaged)
		}
		r.memory = length + int64(plain)
	default:
		r.memory = length
	}
	return r, nil
}

// NewReader returns a reader of a record whose data is in memory. Error: ErrDamaged.
func NewReader(ctx context.Context, ref Ref, data []byte) (*Reader, error) {
	return newReader(ctx, ref, inMemory(data), int64(len(data)))
}

// inMemory is a source for the data of a record that is in memory.
type inMemory []byte

func (h inMemory) whole(context.Context) ([]byte, error) { return h, nil }

func (h inMemory) read(_ context.Context, p []byte, off int64) error {
	copy(p, h[off:])
	return nil
}

// Memory returns the number of octets that reading holds at once: a chunk, or the whole message if it is not in chunks.
// Callers acquire that much of the memory budget before the first Next.
func (r *Reader) Memory() int64 { return r.memory }

// Size returns the number of the message's octets. For a message that is not in chunks it is -1 before the first Next.
func (r *Reader) Size() int64 { return r.size }

// Next returns the octets that follow, which are valid until the next call, or io.EOF at the end. It fails with ErrGone if
// the message was erased meanwhile, and with ErrDamaged if the stored octets are not those that were written: it never
// returns wrong octets. Its other errors are those of the storage.
func (r *Reader) Next(ctx context.Context) ([]byte, error) {
	octets, err := r.step(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read raw message %s: %w", r.ref.Redacted(), err)
	}
	return octets, err
}

// step is Next without the reference in its errors.
func (r *Reader) step(ctx context.Context) ([]byte, error) {
	switch {
	case r.size < 0:
		return r.nextWhole(ctx)
	case r.done || r.index*ChunkSize >= r.size:
		return nil, io.EOF
	}
	const size = ChunkSize + chunkHeader // the data of a chunk, and the header of the next
	buf := buffer.Get(size)
	defer buffer.Put(buf)
	data := (*buf)[:size]
	if err := r.fetch(ctx, data); err != nil {
		return nil, err
	}
	return r.decodeNext(data)
}

// atLastChunk reports whether the next chunk is the last.
func (r *Reader) atLastChunk() bool { return (r.index+1)*ChunkSize >= r.size }

// fetch reads the data of the next chunk together with the header of the chunk behind it, so that each chunk takes one
// read.
func (r *Reader) fetch(ctx context.Context, data []byte) error {
	n := r.next.length()
	if n > ChunkSize {
		return fmt.Errorf("%w: chunk %d claims %d bytes", ErrDamaged, r.index, n)
	}
	if !r.atLastChunk() {
		n += chunkHeader
	}
	if r.at+n > r.length {
		return fmt.Errorf("%w: chunk %d ends behind the record", ErrDamaged, r.index)
	}
	return r.from.read(ctx, data[:n], r.at)
}

// decodeNext returns the octets of the chunk that was fetched, and advances to the next one.
func (r *Reader) decodeNext(data []byte) (octets []byte, err error) {
	if r.buf == nil {
		r.buf = make([]byte, 0, min(ChunkSize, r.size))
	}
	n := r.next.length()
	if octets, err = r.next.decode(r.buf, data[:n], r.size, r.index); err != nil {
		return nil, err
	}
	if !r.atLastChunk() {
		r.next, r.at = parseChunk(data[n:]), r.at+n+chunkHeader
	}
	r.index++
	return octets, nil
}

// nextWhole is Next for a message that is not in chunks: it returns the message in one piece.
func (r *Reader) nextWhole(ctx context.Context) ([]byte, error) {
	data, err := r.from.whole(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := Decompress(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r.size, r.done = int64(len(raw)), true
	if len(raw) == 0 {
		return nil, io.EOF
	}
	return raw, nil
}
