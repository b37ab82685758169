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

// tableRef is a parsed Ref into a Table: a range of the octets that the rows of one Append hold, end to end.
type tableRef struct {
	slot   slot
	id     [16]byte // of an Append, for one class. It begins with the time of expiry in milliseconds, so that the index grows at its end
	offset int64    // among the records of that Append
	length int64    // of the data
}

// newTableRef returns the first tableRef of an Append whose records may be erased at expires. The random part makes the id unique
// among all processes without asking the database.
func newTableRef(expires time.Time, in slot) tableRef {
	c := tableRef{slot: in}
	rand.Read(c.id[6:]) // never fails, as crypto/rand documents
	copy(c.id[:6], idPrefix(expires))
	return c
}

// idPrefix returns a prefix that sorts before the ids of records that may be erased at expires or later, and after all others.
func idPrefix(expires time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(expires.UnixMilli()))[2:]
}

// tablePrefix distinguishes references into a Table from those into segments.
const tablePrefix = "t."

// ref returns the reference to a tableRef: the prefix, slot, id, offset and length.
func (c tableRef) ref() Ref {
	text := strconv.AppendInt(append(make([]byte, 0, 50), tablePrefix...), int64(c.slot), 36)
	text = base64.RawURLEncoding.AppendEncode(append(text, '.'), c.id[:])
	text = strconv.AppendInt(append(text, '.'), c.offset, 36)
	text = strconv.AppendInt(append(text, '.'), c.length, 36)
	return Ref(text)
}

// parseTableRef is the inverse of tableRef.ref. It fails with ErrGone for a reference into a segment: a message has one if it
// was moved here from SQLite without its raw message. It fails with ErrDamaged for anything else.
func parseTableRef(r Ref) (c tableRef, err error) {
	text, ok := strings.CutPrefix(string(r), tablePrefix)
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
		return tableRef{}, fmt.Errorf("%w: not a reference: %q", ErrDamaged, string(r))
	}
	return c, nil
}

// number parses a number in base 36. It returns 0 for anything else, which ref then does not write the same way.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 36, 64)
	return n
}

// rowKey returns the key of a part: the id and the part's number, so that the parts of an Append sort in order.
func (c tableRef) rowKey(part int64) []byte {
	return binary.BigEndian.AppendUint32(slices.Clip(c.id[:]), uint32(part))
}

// rowKeys returns the keys of the first and the last part that contain the record.
func (c tableRef) rowKeys() (first, last []byte) {
	return c.rowKey(c.offset / partSize), c.rowKey((c.offset + c.length - 1) / partSize)
}

// fromRows returns the record from the parts that contain it, which it joins. It fails with ErrDamaged if one is
// missing.
func (c tableRef) fromRows(parts [][]byte) ([]byte, error) {
	data := slices.Concat(parts...)
	begin := c.offset % partSize
	if int64(len(data)) < begin+c.length {
		return nil, fmt.Errorf("%w: a part is missing", ErrDamaged)
	}
	return data[begin : begin+c.length], nil
}

// rowBuilder collects the rows for the records of an Append that share an id, as the columns of one statement.
type rowBuilder struct {
	tableRef // of the next record
	slots    db.Numbers
	ids      db.Octets
	parts    db.Octets
	rest     []byte // the beginning of the next part
}

// add adds a record, which must follow the previous one: otherwise it fails with ErrRecord, since the offsets in
// references would be wrong. Full parts alias data, which must not change until the rows are written.
func (s *rowBuilder) add(c tableRef, data []byte) error {
	if c.id != s.id || c.offset != s.offset || c.length != int64(len(data)) {
		return fmt.Errorf("%w: it is not the next one", ErrRecord)
	}
	s.offset += c.length
	if len(s.rest) > 0 {
		n := min(partSize-len(s.rest), len(data))
		s.rest, data = append(s.rest, data[:n]...), data[n:]
		if len(s.rest) == partSize {
			s.flush()
		}
	}
	for ; len(data) >= partSize; data = data[partSize:] {
		s.addRow(data[:partSize])
	}
	if len(data) > 0 {
		s.rest = append(make([]byte, 0, partSize), data...)
	}
	return nil
}

// flush adds the last part, which may be shorter than the others.
func (s *rowBuilder) flush() {
	if len(s.rest) > 0 {
		s.addRow(s.rest)
	}
	s.rest = nil
}

// addRow adds one row.
func (s *rowBuilder) addRow(data []byte) {
	s.slots = append(s.slots, int64(s.slot))
	s.ids = append(s.ids, s.rowKey(int64(len(s.parts))))
	s.parts = append(s.parts, data)
}
