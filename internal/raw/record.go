package raw

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// magic is the beginning of every segment file. Its digit is the version of the layout, and must change with the layout.
const magic = "gbxseg2\n"

// Format of a record: the length of the data (4 octets, big endian), the CRC-32C of length and data (4 octets), and the
// data. The checksum includes the length, so that zeros, which a crash may leave, are not a valid record. A record
// begins at a multiple of headerSize. What is written at once begins at a block, as direct I/O requires. Gaps are filled
// with zeros, so a header of zeros means that the next record begins at the next block.
const headerSize = 8

// blockSize is the unit of direct I/O: the largest logical block that disks have.
const blockSize = 4096

// roundUp returns the least multiple of unit, a power of two, that is not below n.
func roundUp(n, unit int64) int64 { return (n + unit - 1) &^ (unit - 1) }

// sizeOf returns how many octets a record occupies in the file, given the length of its data.
func sizeOf(data int) int64 { return roundUp(headerSize+int64(data), headerSize) }

// padZeros appends zeros up to a multiple of unit.
func padZeros(dst []byte, unit int64) []byte {
	return append(dst, make([]byte, roundUp(int64(len(dst)), unit)-int64(len(dst)))...)
}

// castagnoli is the table of CRC-32C, which processors calculate in hardware. It is never changed.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends a record with the given data, without the zeros behind it.
func appendRecord(dst, data []byte) []byte {
	return append(appendHeader(dst, data), data...)
}

// appendHeader appends the header of a record with the given data.
func appendHeader(dst, data []byte) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	sum := crc32.Update(crc32.Checksum(dst[start:], castagnoli), castagnoli, data)
	return binary.BigEndian.AppendUint32(dst, sum)
}

// trailer returns the record without data, which ends a segment that was closed in order.
func trailer() []byte { return appendRecord(nil, nil) }

// parseRecord returns the data of a record. raw must be exactly the header and the data. It fails with ErrDamaged if the
// length or the checksum is wrong.
func parseRecord(raw []byte) ([]byte, error) {
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

// wholeLength reads a segment of the given size and returns where its last complete record ends. What follows was cut off
// by a crash. It skips a damaged record in front of complete ones, since these may have been acknowledged. It returns 0
// if not even the magic text is there.
func wholeLength(r io.Reader, size int64) (int64, error) {
	in := bufio.NewReaderSize(r, 256<<10)
	var head [len(magic)]byte
	if _, err := io.ReadFull(in, head[:]); err != nil || string(head[:]) != magic {
		return 0, ignoreEOF(err)
	}
	whole := int64(len(magic))
	for at := whole; ; {
		rec, err := nextRecord(in, at, size)
		if err != nil || rec.next == at {
			return whole, ignoreEOF(err)
		}
		if at = rec.next; rec.valid {
			whole = rec.end
		}
	}
}

// scanned is the result of nextRecord.
type scanned struct {
	end   int64 // of the record's data
	next  int64 // where to continue; the offset of the record itself if it does not fit in the file
	valid bool  // its checksum is right
}

// nextRecord reads the record at offset at of a file of the given size, or the zeros up to the next block. It reads
// the data only to compute the checksum, and holds none of them.
func nextRecord(in *bufio.Reader, at, size int64) (scanned, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return scanned{}, err
	}
	if header == [headerSize]byte{} {
		next := roundUp(at+headerSize, blockSize)
		_, err := io.CopyN(io.Discard, in, next-at-headerSize)
		return scanned{next: next}, err
	}
	length := int64(binary.BigEndian.Uint32(header[:]))
	end := at + headerSize + length
	if end > size {
		return scanned{next: at}, nil
	}
	sum := crc32.New(castagnoli)
	sum.Write(header[:4])
	if _, err := io.CopyN(sum, in, length); err != nil {
		return scanned{}, err
	}
	rec := scanned{end: end, next: roundUp(end, headerSize), valid: sum.Sum32() == binary.BigEndian.Uint32(header[4:])}
	_, _ = in.Discard(int(rec.next - end)) // if the file ends here, the next read returns the error
	return rec, nil
}

// ignoreEOF returns nil for the end of the file, and other errors as they are.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
