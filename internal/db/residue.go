package db

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// SQLite overwrites the cells that it deletes (secure_delete), but where it moves cells between neighbouring B-tree pages it
// leaves copies of them behind, between a page's cell pointers and its first cell. A row that is deleted later is still
// there in such a copy. residue finds those pages, in the frames of the log that they are written to, and purge clears
// what is left on them.
type residue struct {
	wal   *os.File
	index *os.File

	mu    sync.Mutex
	pages map[uint32]struct{} // that have something to be cleared
	whole bool                // any page may: it is not known what was written
	salt  [saltSize]byte      // of the log that last and examined count
	last  uint32              // frames in it when it was looked at
	seen  uint32              // frames that were examined
}

// pageSize is the size of a page of the database.
const pageSize = 4096

// The log's layout: a header, then frames of a header and a page each (the file format's documentation, "WAL File Format").
const (
	walHeader   = 32
	frameHeader = 24
	frameSize   = frameHeader + pageSize
	frameSalt   = 8 // where a frame's salt begins
	saltSize    = 8
)

// logState is what the log's index tells (the file format's documentation, "The WAL-Index File Format").
type logState struct {
	salt    [saltSize]byte // another for each time that the log begins anew
	last    uint32         // the number of the last valid frame
	written uint32         // how many have been written back into the database
}

// readState reads the index, which has its header twice: the two differ while a commit writes them. Where the committing thread loses
// the processor in between, readState waits for it, half a second in all.
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
		time.Sleep(time.Duration(try) * time.Microsecond)
	}
	return s, errors.New("the index of the log is not consistent")
}

// note compares the log with what is known of it. It is called at least once for each time that the log begins anew.
func (r *residue) note(s logState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(s)
}

func (r *residue) noteLocked(s logState) {
	if s.salt != r.salt {
		if r.seen < r.last {
			r.whole = true // frames were overwritten that had not been examined
		}
		r.salt, r.seen = s.salt, 0
	}
	r.last = s.last
}

// examine looks at the frames that are new in the log.
func (r *residue) examine() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := readState(r.index)
	if err != nil {
		return err
	}
	r.noteLocked(s)
	const most = 64 // frames at a time
	buf := make([]byte, min(most, s.last-r.seen)*frameSize)
	for r.seen < s.last {
		n := min(most, s.last-r.seen)
		if _, err := r.wal.ReadAt(buf[:n*frameSize], walHeader+int64(r.seen)*frameSize); err != nil {
			return err
		}
		for frame := range slices.Chunk(buf[:n*frameSize], frameSize) {
			if [saltSize]byte(frame[frameSalt:]) != s.salt {
				r.whole = true // the log has begun anew meanwhile
			}
			r.examinePage(binary.BigEndian.Uint32(frame), frame[frameHeader:])
		}
		r.seen += n
	}
	return nil
}

// examinePage notes whether a page has something to be cleared.
func (r *residue) examinePage(number uint32, page []byte) {
	if hasResidue(number, page) {
		r.pages[number] = struct{}{}
	} else {
		delete(r.pages, number)
	}
}

// examineAll looks at every page of the database, where that is needed. read reads a page.
func (r *residue) examineAll(count func() (uint32, error), read func(number uint32) ([]byte, error)) (err error) {
	r.mu.Lock()
	needed := r.whole
	r.whole = false
	r.mu.Unlock()
	if !needed {
		return nil
	}
	defer func() {
		if err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.whole = true
		}
	}()
	pages, err := count()
	if err != nil {
		return err
	}
	for number := uint32(1); number <= pages; number++ {
		page, err := read(number)
		if err != nil {
			return err
		}
		if hasResidue(number, page) { // one that has none by now is not forgotten: it may have been written since it was read
			r.mu.Lock()
			r.pages[number] = struct{}{}
			r.mu.Unlock()
		}
	}
	return nil
}

// needed reports whether there is something to examine, or to clear.
func (r *residue) needed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.whole || len(r.pages) > 0
}

// take returns at most n pages to be cleared, which are then no longer known.
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

// giveBack returns pages that could not be cleared.
func (r *residue) giveBack(pages []uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, number := range pages {
		r.pages[number] = struct{}{}
	}
}

// hasResidue reports whether something other than old cell pointers is left in the free space of a B-tree page. Every
// deletion leaves a cell pointer; it tells nothing but a place in the page.
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

// The kinds of B-tree pages, as their first octet tells.
const (
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

// freeSpace is what lies between the cell pointers and the first cell of a B-tree page; nil if the page is none. Other
// pages begin with the number of another page, and thus with 0 or 1 (see maxPages).
func freeSpace(number uint32, page []byte) []byte {
	const freeblock, cells, content, leafHeader, interiorHeader = 1, 3, 5, 8, 12
	if len(page) != pageSize {
		return nil
	}
	begin := 0
	if number == 1 {
		begin = 100 // behind the header of the file
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

// maxPages is the number of pages from which on a page that is none of a B-tree can begin like one: 128 GiB. Larger databases are
// not cleared of residue.
const maxPages = interiorIndex << 24
