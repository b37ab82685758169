package db

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
)

// shrinkBatch is how many free pages are given back at a time: the writer waits meanwhile.
const shrinkBatch = 8192

// Shrink gives the disk space of free pages of SQLite's file back to the file system, as far as that can make holes into files;
// the file keeps its length. Free pages are zeros (see writing), which is what a hole reads as, so that nothing in the file changes.
// It is for a full disk: the space has to be found again when the pages are used. It does nothing where the log is not empty, so
// Purge comes first.
func (d *DB) Shrink(ctx context.Context) error { return d.store.shrink(ctx) }

func (w *writer) shrink(ctx context.Context) error {
	return w.exclusively(ctx, func(ctx context.Context) error {
		if err := w.conn.run(ctx, "BEGIN IMMEDIATE"); err != nil { // what is free stays free, for other processes too
			return err
		}
		defer w.rollback(ctx)
		if !w.behind.empty() {
			return nil
		}
		free, err := freePages(w.behind.file)
		if err == nil {
			err = punch(w.behind.file, free)
		}
		if err != nil {
			return fmt.Errorf("give free pages back: %w", err)
		}
		return nil
	})
}

// freePages lists the pages that hold nothing, in order (the file format's documentation, "The Freelist"). Those that list others are
// not among them.
func freePages(f *os.File) (free []uint32, err error) {
	const trunkAt, countAt, headerSize, entry = 32, 36, 40, 4
	var header [headerSize]byte
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return nil, err
	}
	trunk, count := binary.BigEndian.Uint32(header[trunkAt:]), int(binary.BigEndian.Uint32(header[countAt:]))
	page := make([]byte, pageSize)
	for ; trunk != 0 && len(free) < count; trunk = binary.BigEndian.Uint32(page) {
		if _, err := f.ReadAt(page, int64(trunk-1)*pageSize); err != nil {
			return nil, err
		}
		leaves := int(binary.BigEndian.Uint32(page[entry:]))
		if leaves > pageSize/entry-2 {
			return nil, fmt.Errorf("page %d lists %d free pages", trunk, leaves)
		}
		for i := range leaves {
			free = append(free, binary.BigEndian.Uint32(page[(2+i)*entry:]))
		}
	}
	slices.Sort(free)
	return free, nil
}

// punch makes holes of pages, if they are zeros and are none yet.
func punch(f *os.File, pages []uint32) error {
	zero, page := make([]byte, pageSize), make([]byte, pageSize)
	begin, end := int64(0), int64(0) // of the hole to come
	data := int64(-1)                // there is a hole up to here
	for done := 0; len(pages) > 0 && done < shrinkBatch; pages = pages[1:] {
		at := int64(pages[0]-1) * pageSize
		if at >= data {
			data = nextData(f, at)
		}
		if at+pageSize <= data {
			continue
		}
		if _, err := f.ReadAt(page, at); err != nil {
			return err
		}
		if !bytes.Equal(page, zero) {
			continue
		}
		if at != end {
			if err := punchHole(f, begin, end-begin); err != nil {
				return err
			}
			begin = at
		}
		end = at + pageSize
		done++
	}
	return punchHole(f, begin, end-begin)
}
