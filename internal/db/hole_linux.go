package db

import (
	"errors"
	"os"
	"syscall"
)

// nextData is where the first octets from a place on are that are not in a hole; the place itself where that cannot be told.
func nextData(f *os.File, from int64) int64 {
	const seekData = 3 // SEEK_DATA of lseek(2)
	at, err := f.Seek(from, seekData)
	if errors.Is(err, syscall.ENXIO) { // there is a hole up to the end
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

// punchHole gives the space of a stretch of zeros back, where the file system can do that.
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
