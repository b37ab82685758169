package original

import (
	"fmt"
	"log/slog"
	"sync"
)

// segment is a file being appended to. Its lane writes; a goroutine of its own, which lives only while there is
// something to make durable, syncs. At most one sync runs at a time, and what is written meanwhile shares the next.
type segment struct {
	name
	folder folder
	file   segmentFile
	log    *slog.Logger

	mu      sync.Mutex
	size    int64  // written
	synced  int64  // of that, on stable storage
	named   bool   // the folder's entry is on stable storage
	waiting *group // what the next sync covers; nil if nothing
	syncing bool   // the goroutine lives
	retired bool   // no more writes will come
	err     error  // the first failure; it ends the segment
}

// group is everything that one sync covers. err is written before done is closed.
type group struct {
	done chan struct{}
	err  error
}

func (g *group) settle(err error) {
	g.err = err
	close(g.done)
}

// write appends whole records and returns where they begin and the group whose sync covers them. A failure
// ends the segment: it is cut back to what is on stable storage, so that no later record follows half of one.
func (s *segment) write(records []byte, spawn func(func())) (offset int64, g *group, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, nil, s.err
	}
	if n, err := s.file.Write(records); err != nil || n != len(records) {
		s.fail(fmt.Errorf("write %d bytes to %s, %d written: %w", len(records), s.name.file(), n, err))
		return 0, nil, s.err
	}
	offset, s.size = s.size, s.size+int64(len(records))
	if s.waiting == nil {
		s.waiting = &group{done: make(chan struct{})}
	}
	g = s.waiting
	if !s.syncing {
		s.syncing = true
		spawn(s.syncAll)
	}
	return offset, g, nil
}

// syncAll syncs until nothing waits.
func (s *segment) syncAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.waiting != nil {
		g, upTo := s.waiting, s.size
		s.waiting = nil
		err := s.syncUnlocked()
		if err != nil {
			s.fail(fmt.Errorf("sync %s: %w", s.name.file(), err))
		}
		if s.err == nil {
			s.synced = upTo
		}
		g.settle(s.err) // also where a write failed meanwhile: the file was cut under this group
	}
	s.syncing = false
	s.closeIfDone()
}

// syncUnlocked lets go of the lock for as long as the disk takes.
func (s *segment) syncUnlocked() error {
	named := s.named
	s.mu.Unlock()
	defer s.mu.Lock()
	if err := s.file.datasync(); err != nil {
		return err
	}
	if named {
		return nil
	}
	if err := s.folder.sync(); err != nil {
		return err
	}
	s.named = true // nobody else reads it while this goroutine lives
	return nil
}

// fail ends the segment and everything in it that was not yet reported as synced. A disk that failed a sync may
// have dropped what it was given, so that a second try proves nothing.
func (s *segment) fail(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	cut := s.file.Truncate(s.synced)
	s.log.Error("original segment failed", "file", s.name.file(), "kept", s.synced, "error", err, "cut", cut)
	if s.waiting != nil {
		s.waiting.settle(err)
		s.waiting = nil
	}
	s.closeIfDone()
}

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
		s.log.Warn("close original segment", "file", s.name.file(), "error", err)
	}
}

// end writes the trailer. It may be lost: then the next start checks the file and finds it whole.
func (s *segment) end() {
	if _, err := s.file.Write(trailer()); err != nil {
		s.log.Warn("end original segment", "file", s.name.file(), "error", err, "cut", s.file.Truncate(s.size))
	}
}
