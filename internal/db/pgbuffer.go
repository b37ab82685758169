package db

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

// buffer is memory into which arguments are encoded.
type buffer struct{ values []byte }

// bufferMax is the capacity above which a buffer is not reused.
const bufferMax = 16 << 20

// buffers is a pool of buffers.
type buffers struct{ free sync.Pool }

func (b *buffers) get() *buffer {
	if buf, ok := b.free.Get().(*buffer); ok {
		return buf
	}
	return new(buffer)
}

func (b *buffers) put(buf *buffer) {
	if cap(buf.values) <= bufferMax {
		buf.values = buf.values[:0]
		b.free.Put(buf)
	}
}

// arrays encodes columns as PostgreSQL arrays in the binary format. The values alias the buffer.
func (b *buffer) arrays(columns []Column) (values [][]byte, formats []int16) {
	for _, c := range columns {
		begin := len(b.values)
		b.values = appendArray(b.values, c)
		values = append(values, b.values[begin:len(b.values):len(b.values)])
	}
	return values, []int16{pgtype.BinaryFormatCode}
}

// appendArray appends an array (array_recv in PostgreSQL's arrayfuncs.c): the number of dimensions, whether there are NULLs, the type, the
// length of the only dimension and its lowest index, and each value after its length.
func appendArray(dst []byte, c Column) []byte {
	flags := len(dst) + 4
	for _, head := range [...]uint32{1, 0, c.kind().oid, uint32(c.rows()), 1} {
		dst = binary.BigEndian.AppendUint32(dst, head)
	}
	for row := range c.rows() {
		at := len(dst)
		if c.null(row) {
			binary.BigEndian.PutUint32(dst[flags:], 1)
			dst = binary.BigEndian.AppendUint32(dst, math.MaxUint32) // a length of -1
			continue
		}
		dst = c.appendTo(append(dst, 0, 0, 0, 0), row)
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}
