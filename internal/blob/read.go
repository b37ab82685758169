package blob

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/raw"
)

// Read returns up to n octets of a blob's content from offset on, fewer if it ends before. Errors: ErrNotFound,
// ErrDamaged.
func Read(ctx context.Context, q db.Queryer, key Key, offset, n int64) ([]byte, error) {
	data := make([]byte, 0, max(0, min(n, 16*chunkSize))) // n may come from what is stored: more is taken as it is found
	err := walk(ctx, q, key, offset, n, func(part []byte) error {
		data = append(data, part...)
		return nil
	})
	return data, err
}

// Verify reads n octets of a blob's content from offset on, as Read does, and keeps none. All of them must be there.
func Verify(ctx context.Context, q db.Queryer, key Key, offset, n int64) error {
	var found int64
	err := walk(ctx, q, key, offset, n, func(part []byte) error {
		found += int64(len(part))
		return nil
	})
	if err == nil && found != n {
		return fmt.Errorf("blob %x ends %d octets early: %w", key, n-found, ErrDamaged)
	}
	return err
}

// Reader reads a part of a blob's content chunk by chunk. Between reads it holds one chunk in memory, and nothing of the database.
type Reader struct {
	ctx     context.Context //nolint:containedctx // io.Reader has no other way to be given one
	q       db.Queryer
	key     Key
	at, end int64
	chunk   []byte // what is left of the chunk before at
}

// NewReader returns a reader of n octets from offset on; ctx bounds all of its reads. Callers should Verify them
// first: an error in the middle of a response comes too late to be reported. It needs no Close and belongs to one
// goroutine.
func NewReader(ctx context.Context, q db.Queryer, key Key, offset, n int64) *Reader {
	return &Reader{ctx: ctx, q: q, key: key, at: offset, end: offset + n}
}

// Read reads into p. Errors: io.EOF, ErrNotFound, ErrDamaged.
func (r *Reader) Read(p []byte) (int, error) {
	if len(r.chunk) == 0 {
		if r.at >= r.end {
			return 0, io.EOF
		}
		c, err := readChunk(r.ctx, r.q, r.key, r.at/chunkSize)
		if err != nil {
			return 0, err
		}
		if r.chunk = c.from(r.at, r.end); len(r.chunk) == 0 {
			return 0, fmt.Errorf("blob %x ends at octet %d: %w", r.key, r.at, ErrDamaged)
		}
		r.at += int64(len(r.chunk))
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

// walk calls fn with the content from offset on, up to n octets, chunk by chunk. Each chunk is a statement of its own,
// so that no connection is kept while fn works, and its checksum has been verified.
func walk(ctx context.Context, q db.Queryer, key Key, offset, n int64, fn func([]byte) error) error {
	for at, end := offset, offset+n; at < end; {
		c, err := readChunk(ctx, q, key, at/chunkSize)
		if err != nil {
			return err
		}
		part := c.from(at, min(end, c.blobSize))
		if len(part) == 0 {
			return nil
		}
		if err := fn(part); err != nil {
			return err
		}
		at += int64(len(part))
	}
	return nil
}

// from returns the octets [from, to) of the content as far as they are in this chunk.
func (c *chunk) from(from, to int64) []byte {
	begin := c.number * chunkSize
	if to = min(to-begin, int64(len(c.data))); from-begin >= to {
		return nil
	}
	return c.data[from-begin : to]
}

// readChunk returns a chunk of a blob, decompressed. Behind the last one it is empty.
func readChunk(ctx context.Context, q db.Queryer, key Key, number int64) (*chunk, error) {
	c := chunk{number: number}
	var stored []byte
	var crc sql.NullInt64
	err := q.QueryRow(ctx, selectChunk, key[:], number).Scan(&c.blobSize, &crc, &stored)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read blob %x: %w", key, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read chunk %d of blob %x: %w", number, key, err)
	}
	if number*chunkSize >= max(c.blobSize, 1) {
		return &c, nil
	}
	if !crc.Valid || Checksum(stored) != crc.Int64 {
		return nil, fmt.Errorf("chunk %d of blob %x: %w", number, key, ErrDamaged)
	}
	if c.data, err = raw.Decompress(stored); err != nil {
		return nil, fmt.Errorf("chunk %d of blob %x: %w: %w", number, key, ErrDamaged, err)
	}
	if want := min(chunkSize, c.blobSize-number*chunkSize); int64(len(c.data)) != want {
		return nil, fmt.Errorf("chunk %d of blob %x has %d octets of content instead of %d: %w", number, key, len(c.data), want, ErrDamaged)
	}
	return &c, nil
}

// chunk is a chunk of a blob, decompressed.
type chunk struct {
	number   int64
	blobSize int64 // octets of content
	data     []byte
}
