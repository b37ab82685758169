package raw

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
	class  int64 // seconds
	period int64 // since 1970, of which the segment holds what arrived
	nonce  uint32
	old    bool // of a version whose periods were quarters of an hour
}

// place is a Ref taken apart.
type place struct {
	name
	offset int64 // of the record's header
	length int64 // of its data
}

const suffix = ".segment"

// maxPeriod bounds what a reference may name; that there is such a year is checked behind it.
const maxPeriod = 1 << 40

// The layouts of the time in file names, which sort by it and can be read by people. Versions before wrote no seconds.
const (
	timeLayout    = "20060102T150405Z"
	oldTimeLayout = "20060102T1504Z"
)

func periodOf(t time.Time) int64 { return floorDiv(t.Unix(), int64(period/time.Second)) }

// kind gives the length of the period of a segment, the layout of its file name, and how much later than its period a
// message may be received whose record is in it.
func (n name) kind() (length time.Duration, layout string, late time.Duration) {
	if n.old {
		return oldPeriod, oldTimeLayout, 0
	}
	return period, timeLayout, slack
}

func (n name) begins() time.Time {
	length, _, _ := n.kind()
	return time.Unix(n.period*int64(length/time.Second), 0).UTC()
}

// expires is the moment from which on nothing in the segment must be readable any more.
func (n name) expires() time.Time {
	length, _, late := n.kind()
	return n.begins().Add(length + late + time.Duration(n.class)*time.Second)
}

// file is the segment's file name: 20260131T121520Z-900-00c0ffee.segment.
func (n name) file() string {
	_, layout, _ := n.kind()
	return fmt.Sprintf("%s-%d-%08x%s", n.begins().Format(layout), n.class, n.nonce, suffix)
}

// parseFile is the inverse of name.file.
func parseFile(file string) (n name, ok bool) {
	text, ok := strings.CutSuffix(file, suffix)
	parts := strings.Split(text, "-")
	if !ok || len(parts) != 3 {
		return n, false
	}
	n.old = len(parts[0]) == len(oldTimeLayout)
	length, layout, _ := n.kind()
	begins, err1 := time.Parse(layout, parts[0])
	class, err2 := strconv.ParseInt(parts[1], 10, 64)
	nonce, err3 := strconv.ParseUint(parts[2], 16, 32)
	if err1 != nil || err2 != nil || err3 != nil {
		return n, false
	}
	n.class, n.period, n.nonce = class, floorDiv(begins.Unix(), int64(length/time.Second)), uint32(nonce)
	return n, n.valid() && n.file() == file
}

func (n name) valid() bool {
	return n.class > 0 && n.class <= int64(maxClass/time.Second) && n.begins().Year() >= 1970 && n.begins().Year() <= 9999
}

// placePrefix begins the references into segments whose periods are not quarters of an hour.
const placePrefix = "s."

// ref writes a place: five numbers in base 36.
func (p place) ref() Ref {
	text := make([]byte, 0, 50)
	if !p.old {
		text = append(text, placePrefix...)
	}
	for i, v := range [...]int64{p.class, p.period, int64(p.nonce), p.offset, p.length} {
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
	text, current := strings.CutPrefix(string(r), placePrefix)
	parts := strings.Split(text, ".")
	if len(parts) != len(v) {
		return p, fmt.Errorf("%w: not a reference: %q", ErrDamaged, string(r))
	}
	for i, part := range parts {
		if v[i], err = strconv.ParseInt(part, 36, 64); err != nil {
			return p, fmt.Errorf("%w: not a reference: %q", ErrDamaged, string(r))
		}
	}
	p = place{name: name{class: v[0], period: v[1], nonce: uint32(v[2]), old: !current}, offset: v[3], length: v[4]}
	inBounds := v[1] >= 0 && v[1] <= maxPeriod && p.valid() && p.offset >= int64(len(magic)) && p.offset <= math.MaxInt64/2 &&
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
