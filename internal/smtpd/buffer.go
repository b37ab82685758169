package smtpd

import (
	"math/bits"
	"sync"
)

const (
	smallestClass = 15      // 32 KiB: most mail fits
	largestClass  = 20      // 1 MiB: what is larger is as large as it has to be, and not pooled
	trustedSize   = 1 << 18 // how much is set aside on the guess that a message is as large as the one before
	roomToRead    = 1 << 12 // less than this is not worth a read
)

// bufferPool lends buffers for message contents, in size classes of a power of two up to a megabyte.
type bufferPool struct {
	classes [largestClass + 1]sync.Pool // of *buffer
}

// buffer holds a message's content while it comes in.
type buffer struct{ b []byte }

// bufferFor is the size of the buffer that a message of n octets is read into without growing.
func bufferFor(n int64) int64 {
	n += 2 * roomToRead
	if class := classFor(n); class <= largestClass {
		return 1 << class
	}
	return n
}

// nextSize is the size of the buffer that replaces a full one: fourfold up to a megabyte, twofold beyond.
func nextSize(full int64) int64 {
	if full < 1<<(largestClass-1) {
		return 4 * full
	}
	return 2 * full
}

// get lends an empty buffer of a size that bufferFor or nextSize gave; smaller ones become the smallest.
func (p *bufferPool) get(size int64) *buffer {
	class := classFor(size)
	if class > largestClass {
		return &buffer{b: make([]byte, 0, size)}
	}
	if b, ok := p.classes[class].Get().(*buffer); ok {
		b.b = b.b[:0]
		return b
	}
	return &buffer{b: make([]byte, 0, 1<<class)}
}

// put takes a buffer back. The caller must not use it any more.
func (p *bufferPool) put(b *buffer) {
	if class := classFor(int64(cap(b.b))); class <= largestClass && cap(b.b) == 1<<class {
		p.classes[class].Put(b)
	}
}

// move gives b more room: a buffer of the given size takes over its octets.
func (p *bufferPool) move(b *buffer, size int64) {
	larger := p.get(size)
	larger.b = append(larger.b, b.b...)
	*b, *larger = *larger, *b
	p.put(larger)
}

// classFor is the smallest class that holds n octets.
func classFor(n int64) int {
	return max(bits.Len64(uint64(max(n, 1)-1)), smallestClass)
}

// room is the unused part of the buffer, for a read.
func (b *buffer) room() []byte { return b.b[len(b.b):cap(b.b)] }

// extend counts n octets that were read into room as content.
func (b *buffer) extend(n int) { b.b = b.b[:len(b.b)+n] }
