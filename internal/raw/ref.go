package raw

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Ref is a reference to a record. It is opaque and at most 80 characters long. It contains the key of the record, so it is
// secret. It is stored in the rows of the messages, so its form cannot change. Segments and Table have references of different forms, and do not accept each other's.
type Ref string

// name identifies a segment. The nonce is random so that no name is used twice: if a file was lost in a crash, before its
// directory entry was on stable storage, references to it may exist.
type name struct {
	class  int64 // seconds
	period int64 // when the records arrived, in periods since 1970
	nonce  uint32
}

// segmentRef is a parsed Ref to a record in a segment: its position in the file.
type segmentRef struct {
	name
	offset int64 // of the record's header
	length int64 // of its data
	seal   seal
}

const (
	suffix     = ".segment"
	timeLayout = "20060102T150405Z" // of the time in file names, so that they sort by it

	periodSeconds = int64(period / time.Second)
	maxPeriod     = 1 << 40 // bounds the period in a reference, so that valid can compute its year
)

// periodOf returns the number of the period that contains t.
func periodOf(t time.Time) int64 { return floorDiv(t.Unix(), periodSeconds) }

// begins returns the beginning of the segment's period.
func (n name) begins() time.Time { return time.Unix(n.period*periodSeconds, 0).UTC() }

// expires returns the time at which the retention of all records in the segment is over, even of one that was added at the
// end of the period and whose message was received slack later.
func (n name) expires() time.Time {
	return n.begins().Add(period + slack + time.Duration(n.class)*time.Second)
}

// file returns the segment's file name: 20260131T121520Z-900-00c0ffee.segment.
func (n name) file() string {
	return fmt.Sprintf("%s-%d-%08x%s", n.begins().Format(timeLayout), n.class, n.nonce, suffix)
}

// parseFile is the inverse of name.file. Files with other names are not segments and are left alone.
func parseFile(file string) (n name, ok bool) {
	text, ok := strings.CutSuffix(file, suffix)
	parts := strings.Split(text, "-")
	if !ok || len(parts) != 3 {
		return n, false
	}
	begins, err1 := time.Parse(timeLayout, parts[0])
	class, err2 := strconv.ParseInt(parts[1], 10, 64)
	nonce, err3 := strconv.ParseUint(parts[2], 16, 32)
	if err1 != nil || err2 != nil || err3 != nil {
		return n, false
	}
	n.class, n.period, n.nonce = class, periodOf(begins), uint32(nonce)
	return n, n.valid() && n.file() == file
}

// valid reports whether a name is one that Append could have made, so that arithmetic with it does not overflow.
func (n name) valid() bool {
	return n.class > 0 && n.class <= int64(maxClass/time.Second) && n.begins().Year() >= 1970 && n.begins().Year() <= 9999
}

// segmentPrefix is the beginning of references into segments, by which they differ from those into a Table.
const segmentPrefix = "s."

// ref returns the Ref: the prefix, five numbers in base 36 and the seal.
func (p segmentRef) ref() Ref {
	text := append(make([]byte, 0, 80), segmentPrefix...)
	for i, v := range [...]int64{p.class, p.period, int64(p.nonce), p.offset, p.length} {
		if i > 0 {
			text = append(text, '.')
		}
		text = strconv.AppendInt(text, v, 36)
	}
	return Ref(append(append(text, '.'), p.seal.text()...))
}

// parse is the inverse of segmentRef.ref. It fails with ErrDamaged for anything else.
func (r Ref) parse() (p segmentRef, err error) {
	var v [5]int64
	text, ok := strings.CutPrefix(string(r), segmentPrefix)
	parts := strings.Split(text, ".")
	if !ok || len(parts) != len(v)+1 {
		return p, fmt.Errorf("%w: not a reference: %q", ErrDamaged, r.Redacted())
	}
	for i, part := range parts[:len(v)] {
		if v[i], err = strconv.ParseInt(part, 36, 64); err != nil {
			return p, fmt.Errorf("%w: not a reference: %q", ErrDamaged, r.Redacted())
		}
	}
	p = segmentRef{name: name{class: v[0], period: v[1], nonce: uint32(v[2])}, offset: v[3], length: v[4], seal: parseSeal(parts[len(v)])}
	inBounds := v[1] >= 0 && v[1] <= maxPeriod && p.valid() && p.offset >= int64(len(magic)) && p.offset <= math.MaxInt64/2 &&
		p.length > 0 && p.length <= maxRecord
	if !inBounds || p.ref() != r {
		return segmentRef{}, fmt.Errorf("%w: not a reference: %q", ErrDamaged, r.Redacted())
	}
	return p, nil
}

// floorDiv returns a/b rounded down; Go rounds towards zero.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// IsSegment reports whether a file in the folder of a Segments has the name of a segment.
func IsSegment(file string) bool {
	_, ok := parseFile(file)
	return ok
}
