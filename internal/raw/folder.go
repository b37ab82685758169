package raw

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// folder creates and removes segment files in one directory. It is an interface so that tests can make its operations
// fail or wait. Its methods may be called by several goroutines.
type folder interface {
	// create fails with fs.ErrExist for a file that exists.
	create(file string) (segmentFile, error)
	remove(file string) error
	datasync(f *os.File) error // like segmentFile.datasync, for a file that is repaired at start
	sync() error               // when it returns, the names of files that were created before are on stable storage
}

// segmentFile is the file of a segment that is being written. One goroutine writes and syncs it at a time.
type segmentFile interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
	Close() error
	datasync() error // when it returns, what was written before is on stable storage
}

// osFolder is a directory of the file system.
type osFolder struct{ path string }

// osFile is a segmentFile of the operating system, written with direct I/O if the file system supports that.
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

// Write writes p, which must begin at a block boundary in memory and be whole blocks long as long as direct is true. If
// the disk refuses direct I/O although the file system accepts it (because its blocks are larger than blockSize, for
// example), the file is written through the page cache from then on.
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

// sync makes the entries of the directory durable. Without it, a crash may lose a file although its data was synced.
func (d osFolder) sync() error {
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (f *osFile) datasync() error { return datasync(f.File) }

// lockFile is the file in the folder whose lock Open holds. It is never removed.
const lockFile = "LOCK"

// lock locks the folder for this process until the returned file is closed. The system releases the lock when the
// process ends, however it ends. It fails with ErrLocked if another process, or this one, holds it.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockExclusively(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the folder %s: %w", dir, err)
	}
	return f, nil
}
