package smtpd

import "github.com/gonebox/gonebox/internal/buffer"

const (
	minContent   = 32 << 10  // smallest buffer for a message, in octets: most messages fit
	maxSizeGuess = 256 << 10 // largest message for which a buffer is acquired only because the previous message had that size
	minReadSize  = 4 << 10   // free space below which a buffer is grown before the next read
)

// bufferFor returns the size of the buffer that a message of n octets is read into without growing: with space for the
// reads before and after its end.
func bufferFor(n int64) int64 {
	return int64(buffer.Size(int(max(n+2*minReadSize, minContent))))
}

// grownSize returns the size of the buffer that replaces a full one: four times as large up to buffer.Max, so that most
// messages are copied rarely, and twice as large beyond, so that little memory is wasted.
func grownSize(full int64) int64 {
	if full < buffer.Max/2 {
		return 4 * full
	}
	return 2 * full
}

// replaceBuffer returns a buffer of the given size with the octets of b, and gives b back to the pool.
func replaceBuffer(b *[]byte, size int64) *[]byte {
	larger := buffer.Get(int(size))
	*larger = append(*larger, *b...)
	buffer.Put(b)
	return larger
}
