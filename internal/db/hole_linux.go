package db

import (
	"errors"
	"os"
	"syscall"
)

// nextData returns the offset of the first octet at or after from that is not in a hole. If the file system does not support that, it
// returns from.
func nextData(f *os.File, from int64) int64 {
	const seekData = 3 // SEEK_DATA of lseek(2)
	at, err := f.Seek(from, seekData)
	if errors.Is(err, syscall.ENXIO) { // the rest of the file is a hole
		info, err := f.Stat()
		if err == nil {
			return info.Size()
		}
	}
	if err != nil {
		return from
	}
	return at
}

// punchHole makes a range of zeros a hole, if the file system supports holes.
func punchHole(f *os.File, at, length int64) error {
	const keepSize, hole = 1, 2 // FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE of fallocate(2)
	if length == 0 {
		return nil
	}
	err := syscall.Fallocate(int(f.Fd()), keepSize|hole, at, length)
	if errors.Is(err, syscall.EOPNOTSUPP) {
		return nil
	}
	return err
}

// allocate makes the first size octets of a file take disk space, beyond its end too, if the file system supports that. What the file contains
// does not change.
func allocate(f *os.File, size int64) error {
	const keepSize = 1 // FALLOC_FL_KEEP_SIZE
	err := syscall.Fallocate(int(f.Fd()), keepSize, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) {
		return nil
	}
	return err
}
