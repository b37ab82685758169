package raw

import (
	"errors"
	"os"
	"path/filepath"
)

// checkAll processes every segment once, before the first Append. It removes segments whose retention is over, and cuts
// those that were not closed in order behind their last complete record. It does not read segments that were closed in
// order, so that starting does not take longer the more is stored.
func (s *Segments) checkAll() error {
	now := s.clock.Now()
	names, err := s.files()
	if err != nil {
		return err
	}
	for _, n := range names {
		path := filepath.Join(s.dir, n.file())
		if !now.Before(n.expires()) {
			err = os.Remove(path)
		} else {
			err = s.check(path)
		}
		if err != nil {
			return err
		}
	}
	return s.folder.sync()
}

// check repairs one segment, and removes it if nothing in it can be used.
func (s *Segments) check(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	whole, err := s.repair(f)
	err = errors.Join(err, f.Close())
	if err == nil && whole == 0 {
		err = os.Remove(path) // not even the magic text arrived
	}
	return err
}

// repair makes f end behind its last complete record, with a trailer, and syncs it. Every record that Has finds afterwards
// is therefore durable, even if it had been written but not synced before the crash. It returns how many octets were
// complete.
func (s *Segments) repair(f *os.File) (whole int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size()
	if hasTrailer(f, size) {
		return size, nil
	}
	if whole, err = wholeLength(f, size); err != nil || whole == 0 {
		return whole, err
	}
	if whole < size {
		s.log.Warn("raw message segment was cut", "file", filepath.Base(f.Name()), "kept", whole, "lost", size-whole)
		if err := f.Truncate(whole); err != nil {
			return whole, err
		}
	}
	gap := make([]byte, roundUp(whole, headerSize)-whole) // zeros up to where a record may begin
	if _, err := f.WriteAt(append(gap, trailer()...), whole); err != nil {
		return whole, err
	}
	return whole, s.folder.datasync(f)
}

// hasTrailer reports whether the file ends with a trailer. A sender can choose data that ends like a trailer, so that the
// segment is not checked after a crash. This does no harm, since every record is checked when it is read.
func hasTrailer(f *os.File, size int64) bool {
	var end [headerSize]byte
	if size < int64(len(magic)+len(end)) {
		return false
	}
	_, err := f.ReadAt(end[:], size-int64(len(end)))
	return err == nil && string(end[:]) == string(trailer())
}
