package db

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
)

// shrinkBatch is the largest number of free pages of which one call makes holes. It is limited because updates wait meanwhile.
const shrinkBatch = 8192

// Shrink returns the disk space of free pages of SQLite's file to the file system, by making holes where the file system supports them. It does
// not change the length of the file. Free pages are zeros (see writerPragmas), and a hole reads as zeros, so the content of the file does not change.
// It is for a full disk: the space has to be allocated again when the pages are used. It does nothing unless the log is empty, so
// call Purge first.
func (d *DB) Shrink(ctx context.Context) error { return d.store.shrink(ctx) }

func (w *writer) shrink(ctx context.Context) error {
	return w.runExclusively(ctx, func(ctx context.Context) error {
		if err := w.conn.run(ctx, "BEGIN IMMEDIATE"); err != nil { // keeps other processes from using the free pages
			return err
		}
		defer w.rollback(ctx)
		if !w.checkpointer.empty() {
			return nil
		}
		free, err := freePages(w.checkpointer.file)
		if err == nil {
			err = punch(w.checkpointer.file, free)
		}
		if err != nil {
			return fmt.Errorf("make holes of free pages: %w", err)
		}
		return nil
	})
}

// freePages returns the free pages in order (https://sqlite.org/fileformat.html#the_freelist), except the trunk pages, which list the
// others.
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

// punch makes holes of up to shrinkBatch pages that are zeros and not in a hole yet.
func punch(f *os.File, pages []uint32) error {
	zero, page := make([]byte, pageSize), make([]byte, pageSize)
	begin, end := int64(0), int64(0) // of the next hole
	data := int64(-1)                // no data before this offset
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
