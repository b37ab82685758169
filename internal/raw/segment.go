package raw

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// segment is a file to which records are appended. Its goroutine, syncAll, writes and syncs what the classWriter passes to
// append, and runs only while there is something to make durable. Everything that is appended during a sync shares the
// next one, so that the number of syncs does not grow with the number of batches.
type segment struct {
	name
	folder folder
	file   segmentFile
	log    *slog.Logger

	// mu guards the fields below. syncAll releases it while it writes and syncs.
	mu          sync.Mutex
	size        int64  // octets appended, written or not
	synced      int64  // octets on stable storage
	entrySynced bool   // the folder's entry is on stable storage; written by syncAll only
	waiting     *group // what the next sync covers; nil: nothing
	syncing     bool   // the goroutine is running
	retired     bool   // nothing more is appended
	err         error  // the first failure, after which nothing is appended or written
}

// group is what one sync covers, which may come from several batches. err is written before done is closed, and may be
// read after that.
type group struct {
	pieces []piece // to be written, one after the other
	done   chan struct{}
	err    error
}

// piece is written together, in whole blocks. It consists of complete blocks, or of a large record, which is copied into
// blocks, a buffer at a time, while it is written.
type piece struct {
	blocks []byte // nil: the piece is a large record
	record []byte
}

// size returns how many octets the piece takes in the file.
func (p piece) size() int64 {
	if p.blocks == nil {
		return roundUp(sizeOf(len(p.record)), blockSize)
	}
	return int64(len(p.blocks))
}

// finish ends the wait of all batches in the group, with the result of the sync.
func (g *group) finish(err error) {
	g.err = err
	close(g.done)
}

// append queues pieces, which the segment then owns, and returns the group whose sync covers them. If the segment has
// failed, it returns that error.
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

// syncAll writes and syncs until nothing waits. It is the goroutine of the segment.
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
		g.finish(err)
	}
	s.syncing = false
	s.closeIfDone()
}

// storeUnlocked writes and syncs pieces. The caller holds the lock, which it releases meanwhile. The entry in the
// folder is synced after the first sync of the data, once for each file.
func (s *segment) storeUnlocked(pieces []piece) error {
	entrySynced := s.entrySynced
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
		pieces[i] = piece{} // let the garbage collector free it before the rest of the group is written
	}
	if err := s.file.datasync(); err != nil {
		return fmt.Errorf("sync %s: %w", s.name.file(), err)
	}
	if entrySynced {
		return nil
	}
	if err := s.folder.sync(); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", s.name.file(), err)
	}
	s.entrySynced = true // only this goroutine reads it while it runs
	return nil
}

// writeBlocks writes a piece of small records and returns its buffer.
func (s *segment) writeBlocks(p piece) error {
	if err := s.write(p.blocks); err != nil {
		return err
	}
	putBuffer(p.blocks)
	return nil
}

// writeRecord writes a large record through an aligned buffer of 1 MiB, so that it does not need twice its memory.
func (s *segment) writeRecord(p piece) error {
	buf := getBuffer(writeSize)
	defer func() { putBuffer(buf) }()
	buf = appendHeader(buf, p.record)
	for rest := p.record; ; {
		n := min(len(rest), cap(buf)&^(blockSize-1)-len(buf))
		buf, rest = append(buf, rest[:n]...), rest[n:]
		if len(rest) == 0 {
			buf = padZeros(buf, blockSize)
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

// write writes b. A short write is an error even without one from the system.
func (s *segment) write(b []byte) error {
	n, err := s.file.Write(b)
	if err != nil || n != len(b) {
		return fmt.Errorf("write %d bytes to %s, %d written: %w", len(b), s.name.file(), n, err)
	}
	return nil
}

// fail ends the segment, and reports err for everything that is not on stable storage yet. The sync is not retried: after a
// failed sync the system may have dropped the data, and a second sync would succeed without writing it. The file is cut
// back to what is on stable storage, so that no record can be read that was reported as failed. The caller holds the
// lock.
func (s *segment) fail(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	s.log.Error("raw message segment failed", "file", s.name.file(), "kept", s.synced, "error", err, "cut", s.cut())
	if s.waiting != nil {
		s.waiting.finish(err)
		s.waiting = nil
	}
	s.closeIfDone()
}

// cut truncates the file to what is on stable storage.
func (s *segment) cut() error { return s.file.Truncate(s.synced) }

// accepts reports whether more may be appended to a segment of at most limit octets.
func (s *segment) accepts(limit int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err == nil && s.size < limit
}

// retire ends the segment: no more is appended, and the file is closed when the last sync is done.
func (s *segment) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.retired {
		s.retired = true
		s.closeIfDone()
	}
}

// closeIfDone closes the file of a retired segment unless the goroutine is running, which calls it at its end. The
// caller holds the lock.
func (s *segment) closeIfDone() {
	if s.syncing || !s.retired {
		return
	}
	if s.err == nil {
		s.writeTrailer()
	}
	if err := s.file.Close(); err != nil {
		s.log.Warn("close raw message segment", "file", s.name.file(), "error", err)
	}
	if s.err != nil && s.synced == 0 { // no reference to it is valid, and on a full disk each mail would leave such a file
		if err := s.folder.remove(s.name.file()); err != nil {
			s.log.Warn("remove an empty raw message segment", "file", s.name.file(), "error", err)
		}
	}
}

// writeTrailer writes the trailer, and cuts off the zeros that fill its block. It does not sync: if a crash loses the trailer, the
// next start checks the file and finds all records complete.
func (s *segment) writeTrailer() {
	last := append(alignedBuffer(blockSize), trailer()...)
	_, err := s.file.Write(padZeros(last, blockSize))
	if err = errors.Join(err, s.file.Truncate(s.size+headerSize)); err != nil {
		s.log.Warn("end raw message segment", "file", s.name.file(), "error", err, "cut", s.file.Truncate(s.size))
	}
}
