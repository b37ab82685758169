// Package reserve keeps some disk space free for what has to work when the disk is full: deleting takes space before it gives
// any back, since it is written to SQLite's log first. The space is held by a file that is removed when it is needed and made
// again when there is space enough (docs/decisions/0045). The package knows nothing of what is deleted.
package reserve

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// file is the name of the file that holds the space.
const file = "reserve"

// share of the file system that a reserve takes at most: an eighth.
const share = 8

// Reserve is the reserve of a folder. It is safe for concurrent use; Open makes one.
type Reserve struct {
	path string
	low  int64 // octets: with less than this free beside the reserve the disk counts as full
	log  *slog.Logger

	mu   sync.Mutex
	size int64 // octets that the file has while the reserve is whole; 0: there is none
	held int64 // octets of the file
}

// Open takes the reserve of dir, which must exist, or makes it as far as there is space. size is in octets, an eighth of the file
// system at most; 0 means that nothing is held, and that the disk is full when nothing is free.
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
	if r.held > size || r.held > 0 && disk.free < r.low { // another size was configured; or the start itself takes some
		r.drop()
		return r, nil
	}
	if err := r.Restore(); err != nil {
		log.Warn("no disk space is kept in reserve for deleting", "dir", dir, "size", size, "error", err)
	}
	return r, nil
}

// Full reports whether the disk is full: the reserve is not whole, or little is free beside it. What takes space has to wait then.
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

// Reserve is how many octets are held while the reserve is whole.
func (r *Reserve) Reserve() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// Release gives the space of the reserve to those who write next, and reports whether there was any. Full is true until Restore has
// made the reserve whole again.
func (r *Reserve) Release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == 0 {
		return false
	}
	r.log.Warn("the disk is full: deleting goes on in the reserve, mail is deferred", "reserve", r.held)
	r.drop()
	return true
}

// drop removes the file. Where that fails there is no space to be had.
func (r *Reserve) drop() {
	_ = os.Remove(r.path)
	r.held = 0
}

// Restore makes the reserve as large as there is space for.
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
			r.size = 0 // it cannot be made here, with space or without
		}
		return fmt.Errorf("make the reserve of disk space: %w", err)
	}
	if r.held = size; size == r.size {
		r.log.Debug("disk space is kept in reserve for deleting", "reserve", size)
	}
	return nil
}

func (r *Reserve) grow(size int64) error {
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(allocate(f, size), f.Close())
}

// space is what a file system has, in octets.
type space struct{ size, free int64 }

// zeros fills a file where the file system cannot allocate by itself.
func zeros(f *os.File, size int64) error {
	block := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(block)) {
		if _, err := f.WriteAt(block[:min(int64(len(block)), size-at)], at); err != nil {
			return err
		}
	}
	return f.Sync()
}
