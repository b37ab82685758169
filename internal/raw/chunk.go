package raw

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/gonebox/gonebox/internal/buffer"
)

// ChunkSize is how many octets of a raw message a chunk holds; the last has fewer. A Reader holds one chunk at a time
// (docs/decisions/0037). It is part of stored data and must not change.
const ChunkSize = 64 << 10

// Format of a message in chunks: the octet chunked, the length of the message as a varint, and the chunks. A chunk is the length of its
// data (4 octets, big endian; the top bit is set if the data is compressed, as one S2 block), a checksum (4 octets) and the data. The checksum
// is the CRC-32C of the message's length, the chunk's index, its first 4 octets and its content, uncompressed.
const (
	chunkHeader     = 8 // octets
	chunkCompressed = 1 << 31
	chunksHead      = 1 + binary.MaxVarintLen64 // most octets in front of the first chunk: the kind and the message's length
)

// chunk is the header of a chunk.
type chunk struct{ word, sum uint32 } // the length with the top bit, and the checksum

// parseChunk parses a header of chunkHeader octets. It accepts any octets; callers check length, and decode the rest.
func parseChunk(head []byte) chunk {
	return chunk{binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])}
}

// length returns how many octets of data follow the header, up to 2 GiB in a damaged one.
func (c chunk) length() int64 { return int64(c.word &^ chunkCompressed) }

// chunkSum returns the checksum of a chunk. The size of the message and the index of the chunk are included, so that a
// chunk of another message or in another position is detected.
func chunkSum(size, index int64, word uint32, octets []byte) uint32 {
	var seed [20]byte
	binary.BigEndian.PutUint64(seed[:], uint64(size))
	binary.BigEndian.PutUint64(seed[8:], uint64(index))
	binary.BigEndian.PutUint32(seed[16:], word)
	return crc32.Update(crc32.Checksum(seed[:], castagnoli), castagnoli, octets)
}

// CompressChunks appends parts, joined, in a form that a Reader can read a chunk at a time; Decompress reads it as
// well. The result is at most 8 octets for each chunk longer than the parts. Like Compress, it works in the spare
// capacity of dst. Parts of one chunk or less, or of more than MaxSize, are passed to Compress. It is safe for
// concurrent use.
func CompressChunks(dst []byte, parts ...[]byte) []byte {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if size <= ChunkSize || size > MaxSize {
		return Compress(dst, parts...)
	}
	capacity := chunksHead + size + (size/ChunkSize+1)*chunkHeader + s2.MaxEncodedLen(ChunkSize) // S2 needs space for the worst case of the last chunk
	dst = binary.AppendUvarint(append(slices.Grow(dst, capacity), chunked), uint64(size))
	joined := buffer.Get(ChunkSize) // for chunks that extend over several parts
	defer buffer.Put(joined)
	for index, at := int64(0), 0; at < size; index++ {
		n := min(ChunkSize, size-at)
		var octets []byte
		octets, parts = take(*joined, parts, n)
		dst = appendChunk(dst, int64(size), index, octets)
		at += n
	}
	return dst
}

// take returns the first n octets of parts, and the remaining parts. If the octets are not all in one part, it joins them
// in buf. There must be at least n octets. It does not modify the slice parts.
func take(buf []byte, parts [][]byte, n int) (octets []byte, rest [][]byte) {
	for len(parts[0]) == 0 {
		parts = parts[1:]
	}
	if len(parts[0]) >= n {
		octets = parts[0][:n]
		return octets, append([][]byte{parts[0][n:]}, parts[1:]...)
	}
	for len(buf) < n {
		k := min(len(parts[0]), n-len(buf))
		buf = append(buf, parts[0][:k]...)
		parts = append([][]byte{parts[0][k:]}, parts[1:]...)
		if len(parts[0]) == 0 {
			parts = parts[1:]
		}
	}
	return buf, parts
}

// appendChunk appends a chunk, compressed if that makes it shorter. dst must have the capacity for it.
func appendChunk(dst []byte, size, index int64, octets []byte) []byte {
	begin := len(dst)
	dst = dst[:begin+chunkHeader]
	block := s2.Encode(dst[len(dst):cap(dst)], octets)
	word := uint32(len(block)) | chunkCompressed
	if len(block) >= len(octets) {
		block, word = octets, uint32(len(octets))
	}
	binary.BigEndian.PutUint32(dst[begin:], word)
	binary.BigEndian.PutUint32(dst[begin+4:], chunkSum(size, index, word, octets))
	return append(dst, block...) // a compressed block is already there, so that this only extends dst
}

// decode appends the content of a chunk to dst. data is what follows its header. It fails with ErrDamaged if the length or
// the checksum is wrong. It checks the length before it allocates memory.
func (c chunk) decode(dst, data []byte, size, index int64) ([]byte, error) {
	n := min(ChunkSize, size-index*ChunkSize)
	begin := len(dst)
	if c.word&chunkCompressed == 0 {
		dst = append(dst, data...)
	} else {
		if length, err := s2.DecodedLen(data); err != nil || int64(length) != n {
			return nil, fmt.Errorf("%w: chunk %d claims another length", ErrDamaged, index)
		}
		dst = slices.Grow(dst, int(n))[:begin+int(n)]
		if _, err := s2.Decode(dst[begin:], data); err != nil {
			return nil, fmt.Errorf("%w: decompress chunk %d: %w", ErrDamaged, index, err)
		}
	}
	if octets := dst[begin:]; int64(len(octets)) != n || chunkSum(size, index, c.word, octets) != c.sum {
		return nil, fmt.Errorf("%w: another checksum of chunk %d", ErrDamaged, index)
	}
	return dst, nil
}

// chunksSize parses what is in front of the chunks. It returns the size of the message, and how many octets n of head it has
// parsed. n is 0 if head is not what CompressChunks writes.
func chunksSize(head []byte) (size int64, n int) {
	v, n := binary.Uvarint(head[1:])
	if n <= 0 || v <= ChunkSize || v > MaxSize {
		return 0, 0
	}
	return int64(v), 1 + n
}

// joinChunks implements Decompress for chunks. It allocates memory for the size that data claims, unless data is too short
// for that size.
func joinChunks(data []byte) ([]byte, error) {
	size, at := chunksSize(data)
	if at == 0 || size > int64(len(data))*maxRatio {
		return nil, fmt.Errorf("%w: no chunks of %d bytes", errNotCompressed, size)
	}
	raw, rest := make([]byte, 0, size), data[at:]
	for index := int64(0); int64(len(raw)) < size; index++ {
		if len(rest) < chunkHeader {
			return nil, fmt.Errorf("%w: chunk %d is missing", errNotCompressed, index)
		}
		c := parseChunk(rest)
		if rest = rest[chunkHeader:]; c.length() > int64(len(rest)) {
			return nil, fmt.Errorf("%w: chunk %d is cut off", errNotCompressed, index)
		}
		var err error
		if raw, err = c.decode(raw, rest[:c.length()], size, index); err != nil {
			return nil, err
		}
		rest = rest[c.length():]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%w: something follows the chunks", errNotCompressed)
	}
	return raw, nil
}

// maxRatio is an upper bound of how many octets one octet of chunks, headers included, can decode to. It limits what a
// forged size can make joinChunks allocate.
const maxRatio = ChunkSize / chunkHeader
