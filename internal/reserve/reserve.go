// Package reserve reserves disk space for operations that must work on a full disk: deleting takes space before it
// frees any, since it is written to SQLite's log first (docs/decisions/0045). The space is held by a file, which
// Release removes when the space is needed and Restore creates again when there is enough.
//
// Full is what package db asks before a write: writes that take space fail while it is true, and only those that free
// space go on. A periodic job must call Restore.
package reserve

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// file is the name of the file.
const file = "reserve"

// share is the divisor of the file system's size that bounds a reserve, so that a small disk is not filled by it.
const share = 8

// Space returns the size of the file system that a folder is on, and what is free of it, in octets. known is false where the system does
// not tell.
func Space(dir string) (size, free int64, known bool) {
	s, err := usage(dir)
	if err != nil || s.size == math.MaxInt64 {
		return 0, 0, false
	}
	return s.size, s.free, true
}

// Reserve is the reserve of a folder. It is safe for concurrent use; Open makes one.
type Reserve struct {
	path string
	low  int64 // octets; with less free space beside the reserve the disk counts as full
	log  *slog.Logger

	mu   sync.Mutex // guards the fields below
	size int64      // octets of a whole reserve; 0: no reserve
	held int64      // octets of the file now
}

// Open opens the reserve of the existing folder dir, or creates it as far as there is space. size is in octets and is
// reduced to an eighth of the file system; with 0 nothing is reserved, and the disk counts as full when nothing is
// free. It fails only if the free space of the file system cannot be read: a reserve that cannot be created is logged.
// There is nothing to close.
func Open(dir string, size int64, log *slog.Logger) (*Reserve, error) {
	disk, err := usage(dir)
	if err != nil {
		return nil, fmt.Errorf("free space of %s: %w", dir, err)
	}
	size = min(size, disk.size/share) &^ 4095
	r := &Reserve{path: filepath.Join(dir, file), size: size, low: size / 2, log: log}
	if info, err := os.Stat(r.path); err == nil {
		r.held = info.Size()
	}
	if r.held > size || r.held > 0 && disk.free < r.low { // a smaller size was configured, or the start itself needs space
		r.drop()
		return r, nil
	}
	if err := r.Restore(); err != nil {
		log.Warn("could not reserve disk space for deleting", "dir", dir, "size", size, "error", err)
	}
	return r, nil
}

// Full reports whether the disk is full: the reserve is incomplete, or little is free in addition. Writes that take
// space must wait then. It costs a system call.
func (r *Reserve) Full() bool {
	r.mu.Lock()
	whole := r.held >= r.size
	r.mu.Unlock()
	if !whole {
		return true
	}
	disk, err := usage(filepath.Dir(r.path))
	return err == nil && disk.free < max(r.low, 1)
}

// Reserve returns the size of the whole reserve in octets.
func (r *Reserve) Reserve() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// Release frees the space of the reserve, and reports whether there was any. Full returns true until Restore has
// completed the reserve again.
func (r *Reserve) Release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == 0 {
		return false
	}
	r.log.Warn("the disk is full: using the reserve for deleting, deferring mail", "reserve", r.held)
	r.drop()
	return true
}

// drop removes the file. If that fails the space cannot be freed, and the next write fails. The caller holds the lock.
func (r *Reserve) drop() {
	_ = os.Remove(r.path)
	r.held = 0
}

// Restore makes the reserve as large as possible, up to its configured size.
func (r *Reserve) Restore() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held >= r.size {
		return nil
	}
	disk, err := usage(filepath.Dir(r.path))
	size := min(r.size, r.held+disk.free) &^ 4095
	if err != nil || size <= r.held {
		return err
	}
	if err := r.grow(size); err != nil {
		r.drop()
		if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
			r.size = 0 // the file cannot be created even with free space
		}
		return fmt.Errorf("reserve disk space: %w", err)
	}
	if r.held = size; size == r.size {
		r.log.Debug("disk space reserved for deleting", "reserve", size)
	}
	return nil
}

// grow makes the file size octets long, creating it if necessary.
func (r *Reserve) grow(size int64) error {
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(allocate(f, size), f.Close())
}

// space is the size of a file system and its free space, in octets.
type space struct{ size, free int64 }

// zeros fills a file with zeros, for file systems without fallocate.
func zeros(f *os.File, size int64) error {
	block := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(block)) {
		if _, err := f.WriteAt(block[:min(int64(len(block)), size-at)], at); err != nil {
			return err
		}
	}
	return f.Sync()
}
