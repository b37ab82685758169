package db

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

// room is memory that values are put together in, and used again.
type room struct{ values []byte }

// roomMax is how much of it is kept.
const roomMax = 16 << 20

// rooms are those that are free.
type rooms struct{ free sync.Pool }

func (r *rooms) take() *room {
	if kept, ok := r.free.Get().(*room); ok {
		return kept
	}
	return new(room)
}

func (r *rooms) give(used *room) {
	if cap(used.values) <= roomMax {
		used.values = used.values[:0]
		r.free.Put(used)
	}
}

// arrays are columns as PostgreSQL takes arrays in its binary format.
func (r *room) arrays(columns []Column) (values [][]byte, formats []int16) {
	for _, c := range columns {
		begin := len(r.values)
		r.values = appendArray(r.values, c)
		values = append(values, r.values[begin:len(r.values):len(r.values)])
	}
	return values, []int16{pgtype.BinaryFormatCode}
}

// appendArray appends an array (array_recv in PostgreSQL's arrayfuncs.c): dimensions, whether there are NULLs, the type, then the
// length of the only dimension and its lowest index, and each value behind its length.
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
