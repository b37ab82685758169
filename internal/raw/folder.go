package raw

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// folder makes segment files. It is an interface so that a test can make the system fail or wait.
type folder interface {
	create(file string) (segmentFile, error) // must not exist yet
	remove(file string) error
	datasync(f *os.File) error // like segmentFile.datasync, for a file that is repaired at start
	sync() error               // the names of files made before are on stable storage when it returns
}

// segmentFile is the one being written.
type segmentFile interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
	Close() error
	datasync() error // what was written before is on stable storage when it returns
}

type osFolder struct{ path string }

// osFile is written past the system's cache where the file system can do that.
type osFile struct {
	*os.File
	direct bool
}

func (d osFolder) create(file string) (segmentFile, error) {
	f, err := os.OpenFile(filepath.Join(d.path, file), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &osFile{File: f, direct: setDirect(f, true) == nil}, nil
}

// Write goes on through the cache where the disk, unlike its file system, turns out to want what it is not given.
func (f *osFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if f.direct && n == 0 && errors.Is(err, syscall.EINVAL) {
		f.direct = false
		if err := setDirect(f.File, false); err != nil {
			return 0, err
		}
		return f.File.Write(p)
	}
	return n, err
}

func (d osFolder) remove(file string) error { return os.Remove(filepath.Join(d.path, file)) }

func (osFolder) datasync(f *os.File) error { return datasync(f) }

func (d osFolder) sync() error {
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (f *osFile) datasync() error { return datasync(f.File) }

const lockFile = "LOCK"

// lock takes the folder for this process until the file is closed. The system lets go of it when the process
// ends, however it ends.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("lock the folder %s: %w", dir, err)
	}
	return f, nil
}
