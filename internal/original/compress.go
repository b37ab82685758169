package original

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// MaxSize is the most that Decompress gives back, in bytes.
const MaxSize = 256 << 20

// What Compress returns begins with one of these.
const (
	stored     = 0 // the bytes themselves follow
	compressed = 1 // the length in unsigned LEB128, then one zstd frame (RFC 8878)
)

const (
	compressFrom = 1 << 10 // shorter input is stored: little to win
	largeResult  = 1 << 20
	window       = 256 << 10 // how far back the encoder looks: more costs memory and gains nothing on mail
	// A zstd block holds at most 128 KiB and takes at least 4 bytes, so no honest frame claims more than this for each byte.
	maxRatio = (128 << 10) / 4
)

var errNotCompressed = errors.New("not what Compress returned")

// Compress appends the compressed form of raw to dst and returns it. It is zstd at the fastest level, or the
// bytes themselves where raw is shorter than 1 KiB or does not shrink; in every case at most one byte longer than raw.
//
// It is safe for concurrent use. One encoder per processor is kept, 0.9 MiB each; a caller waits where all are busy.
func Compress(dst, raw []byte) []byte {
	start := len(dst)
	if len(raw) >= compressFrom && len(raw) <= MaxSize {
		dst = append(slices.Grow(dst, len(raw)/2+64), compressed)
		dst = binary.AppendUvarint(dst, uint64(len(raw)))
		if dst = encoder().EncodeAll(raw, dst); len(dst)-start <= len(raw) {
			return dst
		}
	}
	return append(append(dst[:start], stored), raw...)
}

// Decompress returns what Compress was given. Anything else gives an error, or bytes, but never more of them than MaxSize nor
// more memory than the data could honestly need. The result may share memory with data.
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

func decompress(data []byte) ([]byte, error) {
	size, n := binary.Uvarint(data)
	if n <= 0 || size > MaxSize || size > uint64(len(data))*maxRatio {
		return nil, fmt.Errorf("%w: it claims %d bytes", errNotCompressed, size)
	}
	raw, err := decodeAll(data[n:], int(size))
	if err != nil {
		return nil, fmt.Errorf("decompress %d bytes: %w", size, err)
	}
	if uint64(len(raw)) != size {
		return nil, fmt.Errorf("%w: it claims %d bytes and holds %d", errNotCompressed, size, len(raw))
	}
	return raw, nil
}

// decodeAll decodes into size bytes and no more. A decoder holds on to what it gave out last until it is used again, so a large
// result has a decoder of its own, which goes with it.
func decodeAll(frame []byte, size int) ([]byte, error) {
	d := decoder()
	if size > largeResult {
		d = newDecoder(1)
		defer d.Close()
	}
	return d.DecodeAll(frame, make([]byte, 0, size))
}

// encoder and decoder are made when first used and never changed. Both work on whole buffers only, start no
// goroutine, and hand out as many workers as there are processors. Measured with two: the encoders hold 1.8 MiB, the
// decoders 0.4 MiB and at most two results of up to largeResult.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithWindowSize(window),
			zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
			zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder { return newDecoder(runtime.GOMAXPROCS(0)) })
)

func newDecoder(workers int) *zstd.Decoder {
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(workers),
		zstd.WithDecodeAllCapLimit(true), // never beyond the claimed size
		zstd.WithDecoderMaxMemory(MaxSize),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
}
