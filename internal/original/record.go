package original

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// magic begins every segment file; its digit is the version of the layout.
const magic = "gbxseg1\n"

// A record is its length (4 bytes, big endian), the CRC-32C of length and data (4 bytes), and the data. The
// length is under the checksum, so that a stretch of zeros, which a crash may leave, is no record.
const headerSize = 8

// castagnoli is a constant in all but name.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecord(dst, data []byte) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	sum := crc32.Update(crc32.Checksum(dst[start:], castagnoli), castagnoli, data)
	dst = binary.BigEndian.AppendUint32(dst, sum)
	return append(dst, data...)
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
		length, sound, err := nextRecord(in, size-at)
		if err != nil || length == 0 {
			return whole, readFault(err)
		}
		if at += length; sound {
			whole = at
		}
	}
}

// nextRecord reads one record and returns its length with the header, or 0 if it does not fit in what is left, and
// whether its checksum is right.
func nextRecord(in io.Reader, left int64) (length int64, sound bool, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return 0, false, err
	}
	length = int64(binary.BigEndian.Uint32(header[:]))
	if length > left-headerSize {
		return 0, false, nil
	}
	sum := crc32.New(castagnoli)
	sum.Write(header[:4])
	if _, err := io.CopyN(sum, in, length); err != nil {
		return 0, false, err
	}
	return headerSize + length, sum.Sum32() == binary.BigEndian.Uint32(header[4:]), nil
}

// readFault keeps the errors that are not the end of the file.
func readFault(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
