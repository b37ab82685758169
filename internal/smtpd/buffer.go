package smtpd

import (
	"math/bits"
	"sync"
)

const (
	smallestClass = 15      // 32 KiB: most mail fits
	largestClass  = 26      // 64 MiB: what is larger is not pooled
	trustedSize   = 1 << 18 // how much is set aside on the mere word of a SIZE parameter
	roomToRead    = 1 << 12 // less than this is not worth a read
)

// bufferPool lends buffers for message contents, in size classes of a power of two.
type bufferPool struct {
	classes [largestClass + 1]sync.Pool // of *buffer
}

// buffer holds a message's content while it comes in.
type buffer struct{ b []byte }

// get lends an empty buffer for a message of the declared size, which is 0 where none was declared. A client that declares
// much gets little at first: it has to send the octets for the buffer to grow.
func (p *bufferPool) get(declared int64) *buffer {
	return p.class(classFor(min(declared+roomToRead, trustedSize)))
}

// put takes a buffer back. Nobody may look at it any more.
func (p *bufferPool) put(b *buffer) {
	if class := classFor(int64(cap(b.b))); class <= largestClass {
		p.classes[class].Put(b)
	}
}

// grow makes sure that b has room for at least one more read.
func (p *bufferPool) grow(b *buffer) {
	if cap(b.b)-len(b.b) >= roomToRead {
		return
	}
	class := classFor(int64(cap(b.b))) + 1
	if class <= 20 {
		class++ // fourfold up to a megabyte, twofold beyond
	}
	larger := p.class(class)
	larger.b = append(larger.b, b.b...)
	*b, *larger = *larger, *b
	p.put(larger)
}

func (p *bufferPool) class(class int) *buffer {
	if class <= largestClass {
		if b, ok := p.classes[class].Get().(*buffer); ok {
			b.b = b.b[:0]
			return b
		}
	}
	return &buffer{b: make([]byte, 0, 1<<class)}
}

// classFor is the smallest class that holds n octets.
func classFor(n int64) int {
	return max(bits.Len64(uint64(max(n, 1)-1)), smallestClass)
}

// room is the unused part of the buffer, for a read.
func (b *buffer) room() []byte { return b.b[len(b.b):cap(b.b)] }

// extend counts n octets that were read into room as content.
func (b *buffer) extend(n int) { b.b = b.b[:len(b.b)+n] }
