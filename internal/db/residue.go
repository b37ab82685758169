package db

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// residue finds pages with remains of deleted rows, by examining the frames of the log; purge clears these pages.
//
// SQLite overwrites the cells that it deletes (secure_delete). But when it moves cells between neighbouring B-tree pages, it leaves copies
// between a page's cell pointers and its first cell. If the row is deleted later, its data still exists in such a copy.
type residue struct {
	wal   *os.File
	index *os.File

	mu       sync.Mutex
	pages    map[uint32]struct{} // that have to be cleared
	scanFile bool                // any page may have remains, since frames were lost before they were examined
	salt     [saltSize]byte      // of the log to which last and examined belong
	last     uint32              // frames in it at the last update
	examined uint32              // frames that were examined
}

// pageSize is the size of a database page in octets.
const pageSize = 4096

// The log is a header followed by frames, each a header and a page (https://sqlite.org/fileformat.html#the_write_ahead_log).
const (
	walHeader   = 32
	frameHeader = 24
	frameSize   = frameHeader + pageSize
	frameSalt   = 8 // offset of a frame's salt
	saltSize    = 8
)

// logState is the state of the log according to its index (https://sqlite.org/walformat.html).
type logState struct {
	salt    [saltSize]byte // changes each time the log starts anew
	last    uint32         // the number of the last valid frame
	written uint32         // the number of frames written back into the database file
}

// readState reads the index. The index contains its header twice, and the two copies differ while a commit writes them. If the committing
// thread is interrupted in between, readState waits for it, for at most half a second in all.
func readState(index io.ReaderAt) (s logState, err error) {
	const lastFrame, salt, copySize, writtenBack, size, tries = 16, 32, 48, 96, 100, 1000
	for try := range tries {
		var head [size]byte
		if _, err := index.ReadAt(head[:], 0); err != nil {
			return s, err
		}
		if bytes.Equal(head[:copySize], head[copySize:2*copySize]) {
			s.last, s.written = binary.NativeEndian.Uint32(head[lastFrame:]), binary.NativeEndian.Uint32(head[writtenBack:])
			s.salt = [saltSize]byte(head[salt:])
			return s, nil
		}
		time.Sleep(time.Duration(try) * time.Microsecond) //nolint:forbidigo // another process is writing the header at this moment, whatever the clock of a test shows
	}
	return s, errors.New("the header of the write-ahead log's index is inconsistent")
}

// update records the state of the log. If it is not called at least once between two starts of the log, frames remain unnoticed.
func (r *residue) update(s logState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.updateLocked(s)
}

func (r *residue) updateLocked(s logState) {
	if s.salt != r.salt {
		if r.examined < r.last {
			r.scanFile = true // frames may have been overwritten before they were examined
		}
		r.salt, r.examined = s.salt, 0
	}
	r.last = s.last
}

// examine examines the new frames of the log.
func (r *residue) examine() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := readState(r.index)
	if err != nil {
		return err
	}
	r.updateLocked(s)
	const most = 64 // frames at a time
	buf := make([]byte, min(most, s.last-r.examined)*frameSize)
	for r.examined < s.last {
		n := min(most, s.last-r.examined)
		if _, err := r.wal.ReadAt(buf[:n*frameSize], walHeader+int64(r.examined)*frameSize); err != nil {
			return err
		}
		for frame := range slices.Chunk(buf[:n*frameSize], frameSize) {
			if [saltSize]byte(frame[frameSalt:]) != s.salt {
				r.scanFile = true // the log has been started anew meanwhile
			}
			r.examinePage(binary.BigEndian.Uint32(frame), frame[frameHeader:])
		}
		r.examined += n
	}
	return nil
}

// examinePage records whether a page has to be cleared.
func (r *residue) examinePage(number uint32, page []byte) {
	if hasResidue(number, page) {
		r.pages[number] = struct{}{}
	} else {
		delete(r.pages, number)
	}
}

// examineAll examines every page of the database file if frames were lost. It reads the file itself, many pages at a time. A page of which
// the log has a newer image is examined there too (examine), and clearing reads a page as it is then.
func (r *residue) examineAll(ctx context.Context, file io.ReaderAt) (err error) {
	r.mu.Lock()
	needed := r.scanFile
	r.scanFile = false
	r.mu.Unlock()
	if !needed {
		return nil
	}
	defer func() {
		if err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.scanFile = true
		}
	}()
	const most = 64 // pages at a time
	buf := make([]byte, most*pageSize)
	for first := int64(0); ctx.Err() == nil; first += most {
		n, err := file.ReadAt(buf, first*pageSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		r.examinePages(uint32(first)+1, buf[:n-n%pageSize])
		if err != nil {
			return nil
		}
	}
	return ctx.Err()
}

// examinePages records which of some adjacent pages have to be cleared. It does not remove the record of a page without residue, since the page
// may have been written after it was read.
func (r *residue) examinePages(first uint32, pages []byte) {
	for page := range slices.Chunk(pages, pageSize) {
		if hasResidue(first, page) {
			r.mu.Lock()
			r.pages[first] = struct{}{}
			r.mu.Unlock()
		}
		first++
	}
}

// needed reports whether pages have to be examined or cleared.
func (r *residue) needed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.scanFile || len(r.pages) > 0
}

// take removes and returns at most n pages that have to be cleared.
func (r *residue) take(n int) []uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	pages := slices.Sorted(maps.Keys(r.pages))
	pages = pages[:min(n, len(pages))]
	for _, number := range pages {
		delete(r.pages, number)
	}
	return pages
}

// add adds pages that have to be cleared.
func (r *residue) add(pages []uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, number := range pages {
		r.pages[number] = struct{}{}
	}
}

// hasResidue reports whether the free space of a B-tree page contains anything but old cell pointers. Every deletion leaves a cell pointer there,
// which is harmless, since it is only an offset in the page.
func hasResidue(number uint32, page []byte) bool {
	free := freeSpace(number, page)
	for len(free) >= 2 && binary.BigEndian.Uint16(free) < pageSize {
		free = free[2:]
	}
	for _, octet := range free {
		if octet != 0 {
			return true
		}
	}
	return false
}

// The types of B-tree pages, which are their first octet.
const (
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

// freeSpace returns the space between the cell pointers and the first cell of a B-tree page. It returns nil for other pages, which it recognizes
// by their first octet: they begin with the number of a page, and thus with 0 or 1 (see maxPages).
func freeSpace(number uint32, page []byte) []byte {
	const freeblock, cells, content, leafHeader, interiorHeader = 1, 3, 5, 8, 12
	if len(page) != pageSize {
		return nil
	}
	begin := 0
	if number == 1 {
		begin = 100 // after the header of the file
	}
	header := page[begin:]
	end := begin + leafHeader
	switch header[0] {
	case interiorIndex, interiorTable:
		end = begin + interiorHeader
	case leafIndex, leafTable:
	default:
		return nil
	}
	first := int(binary.BigEndian.Uint16(header[content:]))
	pointers := 2 * int(binary.BigEndian.Uint16(header[cells:]))
	if first > pageSize || end+pointers > first {
		return nil
	}
	if block := int(binary.BigEndian.Uint16(header[freeblock:])); block != 0 && block < first {
		return nil
	}
	for pointer := range slices.Chunk(page[end:end+pointers], 2) {
		if at := int(binary.BigEndian.Uint16(pointer)); at < first || at >= pageSize {
			return nil
		}
	}
	return page[end+pointers : first]
}

// maxPages is the number of pages, 128 GiB, from which on another page can begin like a B-tree page. Larger databases are not cleared of
// residue.
const maxPages = interiorIndex << 24
