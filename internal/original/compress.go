package original

import (
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
)

const compressFrom = 1 << 10 // shorter input is stored: little to win

var errNotCompressed = errors.New("not what Compress returned")

// Compress appends the compressed form of raw to dst and returns it. It is an S2 block, or the bytes themselves where raw
// is shorter than 1 KiB or does not shrink; in every case at most one byte longer than raw. It works in dst's spare room, of
// which it wants a sixth more than raw is long.
//
// S2 and not zstd: every mail is compressed before it is acknowledged and hardly ever read, so time counts more than the
// last quarter of the size (docs/decisions/0013). It is safe for concurrent use.
func Compress(dst, raw []byte) []byte {
	if len(raw) >= compressFrom && len(raw) <= MaxSize {
		dst = slices.Grow(dst, 1+s2.MaxEncodedLen(len(raw)))
		begin := len(dst) + 1
		if packed := s2.Encode(dst[begin:cap(dst)], raw); len(packed) < len(raw) {
			return append(dst, compressed)[:begin+len(packed)]
		}
	}
	return Store(dst, raw)
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

// Decompress returns what Compress or Store was given. Anything else gives an error, or bytes, but never more than MaxSize of them.
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
