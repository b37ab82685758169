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

// partSize is how many octets of raw messages a row holds, so that a row fills a page of PostgreSQL (8 KiB). PostgreSQL
// would cut a larger row into pieces of 2 KiB, each with an index entry. It must not change, since the offsets in stored
// references depend on it.
const partSize = 8100

// tableRef is a parsed Ref into a Table: a range of the octets that one Append stores, end to end, in rows with the same id.
type tableRef struct {
	slot   slot
	id     [16]byte // of the records of one class in one Append. It begins with the time of expiry in milliseconds, so that the index grows at its end
	offset int64    // of the data among the octets with this id
	length int64    // of the data
	seal   seal
}

// newTableRef returns the first reference of an Append, for records that may be erased at the time expires. The id has a random part,
// which makes it unique among all processes without a query.
func newTableRef(expires time.Time, in slot) tableRef {
	c := tableRef{slot: in}
	rand.Read(c.id[6:]) // never fails, as crypto/rand documents
	copy(c.id[:6], idPrefix(expires))
	return c
}

// idPrefix returns the beginning of the ids of records that may be erased at the time expires. It sorts before all ids with this or a later
// time, and after all ids with an earlier time.
func idPrefix(expires time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(expires.UnixMilli()))[2:]
}

// tablePrefix is the beginning of references into a Table, by which they differ from those into segments.
const tablePrefix = "t."

// ref returns the Ref: the prefix, slot, id, offset, length and seal.
func (c tableRef) ref() Ref {
	text := strconv.AppendInt(append(make([]byte, 0, 80), tablePrefix...), int64(c.slot), 36)
	text = base64.RawURLEncoding.AppendEncode(append(text, '.'), c.id[:])
	text = strconv.AppendInt(append(text, '.'), c.offset, 36)
	text = strconv.AppendInt(append(text, '.'), c.length, 36)
	return Ref(append(append(text, '.'), c.seal.text()...))
}

// parseTableRef is the inverse of tableRef.ref. It fails with ErrGone for a reference into a segment, which a message has if it was
// moved to PostgreSQL from SQLite without its raw message. It fails with ErrDamaged for anything else.
func parseTableRef(r Ref) (c tableRef, err error) {
	text, ok := strings.CutPrefix(string(r), tablePrefix)
	if _, err := r.parse(); err == nil {
		return c, ErrGone
	}
	fields := strings.Split(text, ".")
	if ok && len(fields) == 5 {
		c.slot, c.offset, c.length, c.seal = slot(number(fields[0])), number(fields[2]), number(fields[3]), parseSeal(fields[4])
		if id, err := base64.RawURLEncoding.DecodeString(fields[1]); err == nil && len(id) == len(c.id) {
			c.id = [16]byte(id)
		}
	}
	if c.ref() != r || c.offset < 0 || c.length <= 0 || c.length > maxRecord {
		return tableRef{}, fmt.Errorf("%w: not a reference: %q", ErrDamaged, r.Redacted())
	}
	return c, nil
}

// number parses a number in base 36. It returns 0 for anything else; parseTableRef detects that, since ref then returns another text.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 36, 64)
	return n
}

// rowKey returns the key of a part: the id and the part's number, so that the parts of an Append sort in order.
func (c tableRef) rowKey(part int64) []byte {
	return binary.BigEndian.AppendUint32(slices.Clip(c.id[:]), uint32(part))
}

// rowKeys returns the keys of the first and of the last part that contain octets of the record.
func (c tableRef) rowKeys() (first, last []byte) {
	return c.rowKey(c.offset / partSize), c.rowKey((c.offset + c.length - 1) / partSize)
}

// fromRows joins the parts that contain the record and returns the record. It fails with ErrDamaged if a part is missing.
func (c tableRef) fromRows(parts [][]byte) ([]byte, error) {
	data := slices.Concat(parts...)
	begin := c.offset % partSize
	if int64(len(data)) < begin+c.length {
		return nil, fmt.Errorf("%w: a part is missing", ErrDamaged)
	}
	return data[begin : begin+c.length], nil
}

// rowBuilder builds the rows for the records of an Append that share an id: the values of each column, for one statement.
type rowBuilder struct {
	tableRef // of the next record
	slots    db.Numbers
	ids      db.Octets
	parts    db.Octets
	rest     []byte // the beginning of a part that is not full yet
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

// flush adds the part that has been begun, if any.
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
