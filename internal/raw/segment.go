package raw

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// segment is a file being appended to. A goroutine of its own, which lives only while there is something to make durable,
// writes and syncs what its lane hands over. What comes while it does shares the next sync.
type segment struct {
	name
	folder folder
	file   segmentFile
	log    *slog.Logger

	mu      sync.Mutex
	size    int64  // with what is handed over
	synced  int64  // of that, on stable storage
	named   bool   // the folder's entry is on stable storage
	waiting *group // what the next sync covers; nil if nothing
	syncing bool   // the goroutine lives
	retired bool   // no more writes will come
	err     error  // the first failure; it ends the segment
}

// group is everything that one sync covers. err is written before done is closed.
type group struct {
	pieces []piece // to be written, one after the other
	done   chan struct{}
	err    error
}

// piece is what is written together, in whole blocks: the blocks themselves, or a large record, which becomes blocks a buffer at a time
// while it is written.
type piece struct {
	blocks []byte // nil: it is a record
	record []byte
}

// size is what the piece takes in the file.
func (p piece) size() int64 {
	if p.blocks == nil {
		return roundUp(sizeOf(len(p.record)), blockSize)
	}
	return int64(len(p.blocks))
}

func (g *group) settle(err error) {
	g.err = err
	close(g.done)
}

// append hands over pieces, which the segment then owns, and returns the group whose sync covers them. A failure ends the
// segment: it is cut back to what is on stable storage, so that no later record follows half of one.
func (s *segment) append(pieces []piece, spawn func(func())) (*group, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	for _, p := range pieces {
		s.size += p.size()
	}
	if s.waiting == nil {
		s.waiting = &group{done: make(chan struct{})}
	}
	g := s.waiting
	g.pieces = append(g.pieces, pieces...)
	if !s.syncing {
		s.syncing = true
		spawn(s.syncAll)
	}
	return g, nil
}

// syncAll writes and syncs until nothing waits.
func (s *segment) syncAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.waiting != nil {
		g, upTo := s.waiting, s.size
		s.waiting = nil
		err := s.storeUnlocked(g.pieces)
		if err != nil {
			s.fail(err)
		} else {
			s.synced = upTo
		}
		g.settle(err)
	}
	s.syncing = false
	s.closeIfDone()
}

// storeUnlocked lets go of the lock for as long as the disk takes.
func (s *segment) storeUnlocked(pieces []piece) error {
	named := s.named
	s.mu.Unlock()
	defer s.mu.Lock()
	for i, p := range pieces {
		write := s.writeBlocks
		if p.blocks == nil {
			write = s.writeRecord
		}
		if err := write(p); err != nil {
			return err
		}
		pieces[i] = piece{} // a group may hold many, and is kept until its last piece is written
	}
	if err := s.file.datasync(); err != nil {
		return fmt.Errorf("sync %s: %w", s.name.file(), err)
	}
	if named {
		return nil
	}
	if err := s.folder.sync(); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", s.name.file(), err)
	}
	s.named = true // only this goroutine reads it while it runs
	return nil
}

func (s *segment) writeBlocks(p piece) error {
	if err := s.write(p.blocks); err != nil {
		return err
	}
	giveBack(p.blocks)
	return nil
}

// writeRecord writes a large record by way of a buffer, so that it takes no second time its memory.
func (s *segment) writeRecord(p piece) error {
	buf := lend(writeSize)
	defer func() { giveBack(buf) }()
	buf = appendHeader(buf, p.record)
	for rest := p.record; ; {
		n := min(len(rest), cap(buf)&^(blockSize-1)-len(buf))
		buf, rest = append(buf, rest[:n]...), rest[n:]
		if len(rest) == 0 {
			buf = fill(buf, blockSize)
		}
		if err := s.write(buf); err != nil {
			return err
		}
		if len(rest) == 0 {
			return nil
		}
		buf = buf[:0]
	}
}

func (s *segment) write(b []byte) error {
	n, err := s.file.Write(b)
	if err != nil || n != len(b) {
		return fmt.Errorf("write %d bytes to %s, %d written: %w", len(b), s.name.file(), n, err)
	}
	return nil
}

// fail ends the segment and everything in it that was not yet reported as synced. A disk that failed a sync may
// have dropped what it was given, so that a second try proves nothing.
func (s *segment) fail(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	s.log.Error("raw message segment failed", "file", s.name.file(), "kept", s.synced, "error", err, "cut", s.cut())
	if s.waiting != nil {
		s.waiting.settle(err)
		s.waiting = nil
	}
	s.closeIfDone()
}

// cut drops what is not on stable storage.
func (s *segment) cut() error { return s.file.Truncate(s.synced) }

// fit reports whether more may be written.
func (s *segment) fit(limit int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err == nil && s.size < limit
}

// retire says that no more writes will come; the file is closed when the last sync is done.
func (s *segment) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.retired {
		s.retired = true
		s.closeIfDone()
	}
}

func (s *segment) closeIfDone() {
	if s.syncing || !s.retired {
		return
	}
	if s.err == nil {
		s.end()
	}
	if err := s.file.Close(); err != nil {
		s.log.Warn("close raw message segment", "file", s.name.file(), "error", err)
	}
	if s.err != nil && s.synced == 0 { // nothing refers to it; on a full disk there would be one for each mail
		if err := s.folder.remove(s.name.file()); err != nil {
			s.log.Warn("remove an empty raw message segment", "file", s.name.file(), "error", err)
		}
	}
}

// end writes the trailer, and cuts off what fills its block. It may be lost: then the next start checks the file and finds
// it whole.
func (s *segment) end() {
	last := append(aligned(blockSize), trailer()...)
	_, err := s.file.Write(fill(last, blockSize))
	if err = errors.Join(err, s.file.Truncate(s.size+headerSize)); err != nil {
		s.log.Warn("end raw message segment", "file", s.name.file(), "error", err, "cut", s.file.Truncate(s.size))
	}
}
