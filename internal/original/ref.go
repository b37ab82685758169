package original

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Ref says where a record is. It is opaque, at most 50 characters long, and kept in the message's row.
type Ref string

// name tells segments apart. The nonce is random: a file that a crash took away before its folder entry was on
// stable storage must not give its name, and with it its references, to another.
type name struct {
	class   int64 // seconds
	quarter int64 // since 1970
	nonce   uint32
}

// place is a Ref taken apart.
type place struct {
	name
	offset int64 // of the record's header
	length int64 // of its data
}

const suffix = ".segment"

// timeLayout makes file names that sort by time and can be read by people.
const timeLayout = "20060102T1504Z"

func quarterOf(t time.Time) int64 { return floorDiv(t.Unix(), int64(quarter/time.Second)) }

func (n name) begins() time.Time { return time.Unix(n.quarter*int64(quarter/time.Second), 0).UTC() }

// expires is the moment from which on nothing in the segment must be readable any more.
func (n name) expires() time.Time {
	return n.begins().Add(quarter + time.Duration(n.class)*time.Second)
}

// file is the segment's file name: 20260131T1215Z-900-00c0ffee.segment.
func (n name) file() string {
	return fmt.Sprintf("%s-%d-%08x%s", n.begins().Format(timeLayout), n.class, n.nonce, suffix)
}

// parseFile is the inverse of name.file.
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
	n = name{class: class, quarter: quarterOf(begins), nonce: uint32(nonce)}
	return n, n.valid() && n.file() == file
}

func (n name) valid() bool {
	return n.class > 0 && n.class <= int64(maxClass/time.Second) && n.begins().Year() >= 1970 && n.begins().Year() <= 9999
}

// ref writes a place: five numbers in base 36.
func (p place) ref() Ref {
	text := make([]byte, 0, 50)
	for i, v := range [...]int64{p.class, p.quarter, int64(p.nonce), p.offset, p.length} {
		if i > 0 {
			text = append(text, '.')
		}
		text = strconv.AppendInt(text, v, 36)
	}
	return Ref(text)
}

// parse is the inverse of place.ref. What is no reference of ours is ErrDamaged.
func (r Ref) parse() (p place, err error) {
	var v [5]int64
	parts := strings.Split(string(r), ".")
	if len(parts) != len(v) {
		return p, fmt.Errorf("%w: not a reference: %q", ErrDamaged, string(r))
	}
	for i, part := range parts {
		if v[i], err = strconv.ParseInt(part, 36, 64); err != nil {
			return p, fmt.Errorf("%w: not a reference: %q", ErrDamaged, string(r))
		}
	}
	p = place{name: name{class: v[0], quarter: v[1], nonce: uint32(v[2])}, offset: v[3], length: v[4]}
	inBounds := v[1] >= 0 && v[1] <= math.MaxInt32 && p.valid() && p.offset >= int64(len(magic)) && p.offset <= math.MaxInt64/2 &&
		p.length > 0 && p.length <= maxRecord
	if !inBounds || p.ref() != r {
		return place{}, fmt.Errorf("%w: not a reference: %q", ErrDamaged, string(r))
	}
	return p, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
