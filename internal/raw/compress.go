package raw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"
)

// MaxSize is the most that Decompress gives back, in bytes.
const MaxSize = 256 << 20

// What Compress returns begins with one of these.
const (
	stored     = 0 // the bytes themselves follow
	compressed = 1 // one S2 block follows, which begins with its length
	chunked    = 2 // see chunk.go
)

const compressFrom = 1 << 10 // shorter input is stored: little to win

var errNotCompressed = errors.New("not what Compress returned")

// Compress appends the compressed form of parts, joined, to dst and returns it. It is an S2 block, or the bytes themselves where
// they are fewer than 1 KiB or do not shrink; in every case at most one byte longer than they are. It works in dst's spare room,
// of which it wants a sixth more than the parts are long.
//
// S2 and not zstd: every mail is compressed before it is acknowledged and hardly ever read, so time counts more than the
// last quarter of the size (docs/decisions/0013). It is safe for concurrent use.
func Compress(dst []byte, parts ...[]byte) []byte {
	size, room := 0, 1+binary.MaxVarintLen64
	for _, p := range parts {
		size, room = size+len(p), room+max(0, s2.MaxEncodedLen(len(p)))
	}
	if size < compressFrom || size > MaxSize {
		return Store(dst, parts...)
	}
	begin := len(dst)
	dst = binary.AppendUvarint(append(slices.Grow(dst, room), compressed), uint64(size))
	for _, p := range parts {
		dst = appendBlock(dst, p)
	}
	if len(dst)-begin > size {
		return Store(dst[:begin], parts...)
	}
	return dst
}

// appendBlock appends the S2 block of a part without the length that it begins with: blocks without their lengths can be joined.
// There is room for it behind dst. The length is written over the end of dst, which is put back.
func appendBlock(dst, part []byte) []byte {
	var length [binary.MaxVarintLen64]byte
	at := len(dst) - binary.PutUvarint(length[:], uint64(len(part)))
	var end [binary.MaxVarintLen64]byte
	n := copy(end[:], dst[at:])
	block := s2.Encode(dst[at:cap(dst)], part)
	copy(dst[at:], end[:n])
	return dst[:at+len(block)]
}

// Store appends parts, joined, in the form that Decompress takes, as they are.
func Store(dst []byte, parts ...[]byte) []byte {
	size := 1
	for _, p := range parts {
		size += len(p)
	}
	dst = append(slices.Grow(dst, size), stored)
	for _, p := range parts {
		dst = append(dst, p...)
	}
	return dst
}

// DecompressedLen is the length of what Decompress would return for data of that length that begin with head, 16 bytes of them or all. It
// is 0 where Decompress would fail.
func DecompressedLen(head []byte, length int64) int64 {
	if len(head) == 0 {
		return 0
	}
	size := uint64(length - 1)
	if head[0] != stored {
		size, _ = binary.Uvarint(head[1:])
	}
	return int64(min(size, MaxSize))
}

// Decompress returns what Compress, CompressChunks or Store was given. Anything else gives an error, or bytes, but never more than MaxSize of them.
// The result may share memory with data.
func Decompress(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, errNotCompressed
	}
	switch data[0] {
	case stored:
		return data[1:], nil
	case compressed:
		return decompress(data[1:])
	case chunked:
		return joinChunks(data)
	default:
		return nil, fmt.Errorf("%w: it begins with %#x", errNotCompressed, data[0])
	}
}

func decompress(block []byte) ([]byte, error) {
	size, err := s2.DecodedLen(block)
	if err != nil || size > MaxSize {
		return nil, fmt.Errorf("%w: it claims %d bytes", errNotCompressed, size)
	}
	raw, err := s2.Decode(make([]byte, size), block)
	if err != nil {
		return nil, fmt.Errorf("decompress %d bytes: %w", size, err)
	}
	return raw, nil
}
