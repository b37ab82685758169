package raw

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// partSize is how many octets of raw messages a row holds, so that a row fills a page of PostgreSQL (8 KiB).
// PostgreSQL would cut larger rows into pieces of a quarter of that, each with an index entry. It is part of stored
// data: references count in it.
const partSize = 8100

// cell is a parsed Ref into a Table: a range of the octets that the rows of one Append hold, end to end.
type cell struct {
	slot   slot
	id     [16]byte // of an Append, for one class. It begins with the time of expiry in milliseconds, so that the index grows at its end
	offset int64    // among the records of that Append
	length int64    // of the data
}

// newCell returns the first cell of an Append whose records may be erased at goes. The random part makes the id unique
// among all processes without asking the database.
func newCell(goes time.Time, in slot) cell {
	c := cell{slot: in}
	rand.Read(c.id[6:]) // never fails, as crypto/rand documents
	copy(c.id[:6], idBefore(goes))
	return c
}

// idBefore returns a prefix that sorts before the ids of records that may be erased at goes or later, and after all others.
func idBefore(goes time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(goes.UnixMilli()))[2:]
}

// cellPrefix distinguishes references into a Table from those into segments.
const cellPrefix = "t."

// ref returns the reference to a cell: the prefix, slot, id, offset and length.
func (c cell) ref() Ref {
	text := strconv.AppendInt(append(make([]byte, 0, 50), cellPrefix...), int64(c.slot), 36)
	text = base64.RawURLEncoding.AppendEncode(append(text, '.'), c.id[:])
	text = strconv.AppendInt(append(text, '.'), c.offset, 36)
	text = strconv.AppendInt(append(text, '.'), c.length, 36)
	return Ref(text)
}

// parseCell is the inverse of cell.ref. It fails with ErrGone for a reference into a segment: a message has one if it
// was moved here from SQLite without its raw message. It fails with ErrDamaged for anything else.
func parseCell(r Ref) (c cell, err error) {
	text, ok := strings.CutPrefix(string(r), cellPrefix)
	if _, err := r.parse(); err == nil {
		return c, ErrGone
	}
	fields := strings.Split(text, ".")
	if ok && len(fields) == 4 {
		c.slot, c.offset, c.length = slot(number(fields[0])), number(fields[2]), number(fields[3])
		if id, err := base64.RawURLEncoding.DecodeString(fields[1]); err == nil && len(id) == len(c.id) {
			c.id = [16]byte(id)
		}
	}
	if c.ref() != r || c.offset < 0 || c.length <= 0 || c.length > maxRecord {
		return cell{}, fmt.Errorf("%w: not a reference: %q", ErrDamaged, string(r))
	}
	return c, nil
}

// number parses a number in base 36. It returns 0 for anything else, which ref then does not write the same way.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 36, 64)
	return n
}

// row returns the key of a part: the id and the part's number, so that the parts of an Append sort in order.
func (c cell) row(part int64) []byte {
	return binary.BigEndian.AppendUint32(slices.Clip(c.id[:]), uint32(part))
}

// rows returns the keys of the first and the last part that contain the record.
func (c cell) rows() (first, last []byte) {
	return c.row(c.offset / partSize), c.row((c.offset + c.length - 1) / partSize)
}

// within returns the record from the parts that contain it, which it joins. It fails with ErrDamaged if one is
// missing.
func (c cell) within(parts [][]byte) ([]byte, error) {
	data := slices.Concat(parts...)
	begin := c.offset % partSize
	if int64(len(data)) < begin+c.length {
		return nil, fmt.Errorf("%w: a part is missing", ErrDamaged)
	}
	return data[begin : begin+c.length], nil
}

// stream collects the rows for the records of an Append that share an id, as the columns of one statement.
type stream struct {
	cell  // of the next record
	slots db.Numbers
	ids   db.Octets
	parts db.Octets
	rest  []byte // the beginning of the next part
}

// add adds a record, which must follow the previous one: otherwise it fails with ErrRecord, since the offsets in
// references would be wrong. Full parts alias data, which must not change until the rows are written.
func (s *stream) add(c cell, data []byte) error {
	if c.id != s.id || c.offset != s.offset || c.length != int64(len(data)) {
		return fmt.Errorf("%w: it is not the next one", ErrRecord)
	}
	s.offset += c.length
	if len(s.rest) > 0 {
		n := min(partSize-len(s.rest), len(data))
		s.rest, data = append(s.rest, data[:n]...), data[n:]
		if len(s.rest) == partSize {
			s.end()
		}
	}
	for ; len(data) >= partSize; data = data[partSize:] {
		s.part(data[:partSize])
	}
	if len(data) > 0 {
		s.rest = append(make([]byte, 0, partSize), data...)
	}
	return nil
}

// end adds the last part, which may be shorter than the others.
func (s *stream) end() {
	if len(s.rest) > 0 {
		s.part(s.rest)
	}
	s.rest = nil
}

// part adds one row.
func (s *stream) part(data []byte) {
	s.slots = append(s.slots, int64(s.slot))
	s.ids = append(s.ids, s.row(int64(len(s.parts))))
	s.parts = append(s.parts, data)
}
