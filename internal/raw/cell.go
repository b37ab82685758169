package raw

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// partSize is how many octets of raw messages a row holds: it then fills a page of PostgreSQL. Larger rows PostgreSQL cuts into
// pieces of a quarter of that, each with an index entry of its own.
const partSize = 8100

// cell says where a record of a table is: a reference taken apart.
type cell struct {
	slot   slot
	id     [16]byte // of an Append; it begins with the milliseconds from which on it may go, so that the index grows at its end
	offset int64    // among the records of the Append
	length int64    // 0: all of a row whose id is this, as versions before wrote it
}

func newCell(goes time.Time, in slot) cell {
	c := cell{slot: in}
	rand.Read(c.id[6:]) // never fails, as crypto/rand documents
	copy(c.id[:6], idBefore(goes))
	return c
}

// idBefore is below every id of what may go at a time or later, and above those of what may go earlier.
func idBefore(goes time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(goes.UnixMilli()))[2:]
}

const cellPrefix = "t."

// ref writes a cell: t, slot, id, offset and length; an older one's without the last two.
func (c cell) ref() Ref {
	text := strconv.AppendInt(make([]byte, 0, 50), int64(c.slot), 36)
	if c.length == 0 {
		return Ref(cellPrefix + string(text) + "." + hex.EncodeToString(c.id[:]))
	}
	text = base64.RawURLEncoding.AppendEncode(append(text, '.'), c.id[:])
	text = strconv.AppendInt(append(text, '.'), c.offset, 36)
	text = strconv.AppendInt(append(text, '.'), c.length, 36)
	return Ref(cellPrefix + string(text))
}

// parseCell is the inverse of cell.ref. What is no reference of ours is ErrDamaged; one into a segment file, which a
// migrated database still has, is ErrGone.
func parseCell(r Ref) (c cell, err error) {
	text, ours := strings.CutPrefix(string(r), cellPrefix)
	if !ours {
		if _, err := r.parse(); err == nil {
			return c, ErrGone
		}
	}
	var id []byte
	switch fields := strings.Split(text, "."); len(fields) {
	case 2:
		c.slot = slot(number(fields[0]))
		id, err = hex.DecodeString(fields[1])
	case 4:
		c.slot, c.offset, c.length = slot(number(fields[0])), number(fields[2]), number(fields[3])
		id, err = base64.RawURLEncoding.DecodeString(fields[1])
	}
	if err == nil && len(id) == len(c.id) {
		c.id = [16]byte(id)
	}
	if err != nil || !ours || c.ref() != r || c.offset < 0 || c.length < 0 || c.length > maxRecord {
		return cell{}, fmt.Errorf("%w: not a reference: %q", ErrDamaged, string(r))
	}
	return c, nil
}

// number reads digits in base 36. What is none gives another reference than it came from.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 36, 64)
	return n
}

// row is the key of a part.
func (c cell) row(part int64) []byte {
	return binary.BigEndian.AppendUint32(slices.Clip(c.id[:]), uint32(part))
}

// rows are the keys of the first and the last part that the record is in.
func (c cell) rows() (first, last []byte) {
	if c.length == 0 {
		return c.id[:], c.id[:]
	}
	return c.row(c.offset / partSize), c.row((c.offset + c.length - 1) / partSize)
}

// within is the record as the parts that it is in hold it.
func (c cell) within(parts [][]byte) ([]byte, error) {
	data := slices.Concat(parts...)
	if c.length == 0 {
		return data, nil
	}
	begin := c.offset % partSize
	if int64(len(data)) < begin+c.length {
		return nil, fmt.Errorf("%w: a part is missing", ErrDamaged)
	}
	return data[begin : begin+c.length], nil
}

// stream are the rows of the records of an Append that share an id.
type stream struct {
	cell  // where the next record begins
	slots db.Numbers
	ids   db.Octets
	parts db.Octets
	rest  []byte // begins the next part
}

// add adds a record, whose octets must stay as they are until the rows are written.
func (s *stream) add(c cell, data []byte) error {
	if c.id != s.id || c.offset != s.offset || c.length != int64(len(data)) {
		return fmt.Errorf("%w: it is not what comes next", ErrRecord)
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

// end makes a part of what is left.
func (s *stream) end() {
	if len(s.rest) > 0 {
		s.part(s.rest)
	}
	s.rest = nil
}

func (s *stream) part(data []byte) {
	s.slots = append(s.slots, int64(s.slot))
	s.ids = append(s.ids, s.row(int64(len(s.parts))))
	s.parts = append(s.parts, data)
}
