package raw

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// magic begins every segment file; its digit is the version of the layout.
const magic = "gbxseg2\n"

// A record is its length (4 bytes, big endian), the CRC-32C of length and data (4 bytes), and the data. The
// length is under the checksum, so that a stretch of zeros, which a crash may leave, is no record. A record begins at a
// multiple of the header's size; what is written at once begins at a block. Zeros fill up to either, so that a header of
// zeros says: go on at the next block.
const headerSize = 8

// blockSize is what direct writing wants: the largest logical block that disks have.
const blockSize = 4096

// roundUp is the least multiple of unit, a power of two, that is not below n.
func roundUp(n, unit int64) int64 { return (n + unit - 1) &^ (unit - 1) }

// sizeOf is what a record of so many bytes takes in the file.
func sizeOf(data int) int64 { return roundUp(headerSize+int64(data), headerSize) }

// fill appends zeros up to a multiple of unit.
func fill(dst []byte, unit int64) []byte {
	return append(dst, make([]byte, roundUp(int64(len(dst)), unit)-int64(len(dst)))...)
}

// castagnoli is a constant in all but name.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecord(dst, data []byte) []byte {
	return append(appendHeader(dst, data), data...)
}

// appendHeader appends what stands in front of a record's data.
func appendHeader(dst, data []byte) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	sum := crc32.Update(crc32.Checksum(dst[start:], castagnoli), castagnoli, data)
	return binary.BigEndian.AppendUint32(dst, sum)
}

// trailer is the record without data.
func trailer() []byte { return appendRecord(nil, nil) }

// openRecord returns the data of a record that must be exactly raw.
func openRecord(raw []byte) ([]byte, error) {
	if len(raw) < headerSize || int64(binary.BigEndian.Uint32(raw)) != int64(len(raw)-headerSize) {
		return nil, fmt.Errorf("%w: another length", ErrDamaged)
	}
	data := raw[headerSize:]
	sum := crc32.Update(crc32.Checksum(raw[:4], castagnoli), castagnoli, data)
	if sum != binary.BigEndian.Uint32(raw[4:]) {
		return nil, fmt.Errorf("%w: another checksum", ErrDamaged)
	}
	return data, nil
}

// wholeLength reads a segment of the given size from its beginning and returns where its last whole record ends: what is
// behind was cut. A damaged record before that is stepped over, since those behind it may have been acknowledged.
// Zero means that not even the magic text is there.
func wholeLength(r io.Reader, size int64) (int64, error) {
	in := bufio.NewReaderSize(r, 256<<10)
	var head [len(magic)]byte
	if _, err := io.ReadFull(in, head[:]); err != nil || string(head[:]) != magic {
		return 0, readFault(err)
	}
	whole := int64(len(magic))
	for at := whole; ; {
		rec, err := nextRecord(in, at, size)
		if err != nil || rec.next == at {
			return whole, readFault(err)
		}
		if at = rec.next; rec.sound {
			whole = rec.end
		}
	}
}

// found is what nextRecord met.
type found struct {
	end   int64 // of the record's data
	next  int64 // where to go on; where it began if it does not fit in the file
	sound bool  // its checksum is right
}

// nextRecord reads the record at a place of a file of the given size, or the zeros up to the next block.
func nextRecord(in *bufio.Reader, at, size int64) (found, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return found{}, err
	}
	if header == [headerSize]byte{} {
		next := roundUp(at+headerSize, blockSize)
		_, err := io.CopyN(io.Discard, in, next-at-headerSize)
		return found{next: next}, err
	}
	length := int64(binary.BigEndian.Uint32(header[:]))
	end := at + headerSize + length
	if end > size {
		return found{next: at}, nil
	}
	sum := crc32.New(castagnoli)
	sum.Write(header[:4])
	if _, err := io.CopyN(sum, in, length); err != nil {
		return found{}, err
	}
	rec := found{end: end, next: roundUp(end, headerSize), sound: sum.Sum32() == binary.BigEndian.Uint32(header[4:])}
	_, _ = in.Discard(int(rec.next - end)) // where the file ends with the record, the next read says so
	return rec, nil
}

// readFault keeps the errors that are not the end of the file.
func readFault(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
