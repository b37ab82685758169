package raw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"
)

// MaxSize is the longest message in octets that is compressed, and the longest that Decompress returns. It bounds what
// damaged or forged data can make a reader allocate.
const MaxSize = 256 << 20

// The first octet of the result of Compress, CompressChunks and Store. The numbers are part of stored data.
const (
	stored     = 0 // the content follows as it is
	compressed = 1 // one S2 block follows, which begins with its length
	chunked    = 2 // chunks follow: see chunk.go
)

const compressFrom = 1 << 10 // octets; shorter input is stored as it is, since it would hardly shrink

var errNotCompressed = errors.New("not what Compress returned") // it does not wrap ErrDamaged, which callers that read records add

// Compress appends the compressed form of parts, joined, to dst and returns the result. The form is an S2 block, or the
// content itself if it has fewer than 1 KiB or does not shrink; it is at most one octet longer than the parts. Compress
// works in the spare capacity of dst, which it grows to a sixth more than the length of the parts if necessary. It is
// safe for concurrent use.
//
// It uses S2 and not zstd because every mail is compressed before it is acknowledged and hardly ever read, so time
// counts more than the last quarter of the size (docs/decisions/0013).
func Compress(dst []byte, parts ...[]byte) []byte {
	size, capacity := 0, 1+binary.MaxVarintLen64
	for _, p := range parts {
		size, capacity = size+len(p), capacity+max(0, s2.MaxEncodedLen(len(p)))
	}
	if size < compressFrom || size > MaxSize {
		return Store(dst, parts...)
	}
	begin := len(dst)
	dst = binary.AppendUvarint(append(slices.Grow(dst, capacity), compressed), uint64(size))
	for _, p := range parts {
		dst = appendBlock(dst, p)
	}
	if len(dst)-begin > size {
		return Store(dst[:begin], parts...)
	}
	return dst
}

// appendBlock appends the S2 block of a part without the length that it begins with: blocks without their lengths can
// be joined. dst must have the capacity for it. s2.Encode writes the length over the end of dst, which is restored
// afterwards; encoding to another buffer and copying would cost the copy.
func appendBlock(dst, part []byte) []byte {
	var length [binary.MaxVarintLen64]byte
	at := len(dst) - binary.PutUvarint(length[:], uint64(len(part)))
	var end [binary.MaxVarintLen64]byte
	n := copy(end[:], dst[at:])
	block := s2.Encode(dst[at:cap(dst)], part)
	copy(dst[at:], end[:n])
	return dst[:at+len(block)]
}

// Store appends parts, joined and uncompressed, in the form that Decompress reads. It is for content that is
// compressed already.
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

// DecompressedLen returns the length of the result of Decompress for data of the given length that begins with head, of
// which 16 octets suffice. It returns 0 if Decompress would fail at once. Callers reserve memory with it before they
// read the data.
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

// Decompress returns what was passed to Compress, CompressChunks or Store. For anything else it returns an error or
// other octets, since only chunks have checksums, but never more than MaxSize of them. The result may share memory
// with data.
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

// decompress returns the octets of one S2 block.
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
