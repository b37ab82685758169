package raw

import (
	"errors"
	"os"
	"path/filepath"
)

// checkAll looks at every segment once, before the first Append: those whose time is over are removed, those
// that were not closed in order are checked and cut behind their last whole record.
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

// repair makes f end behind its last whole record, with a trailer, on stable storage: what Has finds from now on stays.
// It returns how much was whole.
func (s *Segments) repair(f *os.File) (whole int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size()
	if ended(f, size) {
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

// ended reports whether the file ends with a trailer. A message can be made to end like one: its segment
// is then not checked here, but every record still is when it is read.
func ended(f *os.File, size int64) bool {
	var end [headerSize]byte
	if size < int64(len(magic)+len(end)) {
		return false
	}
	_, err := f.ReadAt(end[:], size-int64(len(end)))
	return err == nil && string(end[:]) == string(trailer())
}
