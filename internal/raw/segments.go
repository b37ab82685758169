package raw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Segments is the store in one folder. It is safe for concurrent use; Open makes one.
type Segments struct {
	dir    string
	clock  clock.Clock
	log    *slog.Logger
	folder folder
	lock   io.Closer
	limit  int64
	syncs  sync.WaitGroup

	mu     sync.Mutex
	lanes  map[int64]*lane // by class in seconds
	closed bool
}

// Open takes the folder dir, makes it if it is missing, removes the segments whose time is over, and cuts off
// what a crash left half written. It fails with ErrLocked if the folder is in use.
func Open(dir string, c clock.Clock, log *slog.Logger) (*Segments, error) {
	return open(dir, c, log, osFolder{dir}, segmentSize)
}

func open(dir string, c clock.Clock, log *slog.Logger, f folder, limit int64) (*Segments, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of raw messages: %w", err)
	}
	held, err := lock(dir)
	if err != nil {
		return nil, err
	}
	s := &Segments{dir: dir, clock: c, log: log, folder: f, lock: held, limit: limit, lanes: make(map[int64]*lane)}
	if err := s.checkAll(); err != nil {
		held.Close()
		return nil, fmt.Errorf("check raw messages in %s: %w", dir, err)
	}
	return s, nil
}

// Append begins to write records, all of which arrived at the given time, and to make them durable. It has copied those below 1 MiB when
// it returns; the data of larger ones must not change until synced.Wait returns. A reference, in the place of its record, may be relied on
// once synced.Wait has answered nil. After an error none of the records has a reference, though some may be written. An error, of Append
// or of Wait, leaves the store usable.
func (s *Segments) Append(at time.Time, records []Record) (refs []Ref, synced *Sync, err error) {
	if year := at.Year(); year < 1971 || year > 9998 {
		return nil, nil, fmt.Errorf("%w: it arrived in the year %d", ErrRecord, year)
	}
	classes, err := byClass(records)
	if err != nil {
		return nil, nil, err
	}
	refs, synced = make([]Ref, len(records)), &Sync{}
	for class, which := range classes {
		l, err := s.lane(class)
		if err != nil {
			return nil, nil, err
		}
		g, err := l.append(at, records, which, refs)
		if err != nil {
			return nil, nil, err
		}
		synced.groups = append(synced.groups, g)
	}
	return refs, synced, nil
}

// Sync is the way of one Append to stable storage.
type Sync struct{ groups []*group }

// Wait returns nil once everything the Append wrote is on stable storage. An error means that none of its references may be
// relied on. It may be called more than once, and from several goroutines.
func (sy *Sync) Wait() error {
	var errs []error
	for _, g := range sy.groups {
		<-g.done
		errs = append(errs, g.err)
	}
	return errors.Join(errs...)
}

// Has reports whether the record is there, whole. It reads it.
func (s *Segments) Has(ref Ref) bool {
	_, err := s.read(ref)
	return err == nil
}

// Read returns the bytes that were given to Compress before Append. It fails with ErrGone if the record is not
// there and with ErrDamaged if it is not what was written; it never returns other bytes.
func (s *Segments) Read(ref Ref) ([]byte, error) {
	data, err := s.read(ref)
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref, err)
	}
	return decompressRecord(ref, data)
}

// decompressRecord returns the bytes of a stored record. It fails with ErrDamaged.
func decompressRecord(ref Ref, data []byte) ([]byte, error) {
	raw, err := Decompress(data)
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w: %w", ref, ErrDamaged, err)
	}
	return raw, nil
}

// NewReader returns a reader of a record. Errors: ErrGone, ErrDamaged.
func (s *Segments) NewReader(ctx context.Context, ref Ref) (*Reader, error) {
	p, err := ref.parse()
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref, err)
	}
	return newReader(ctx, ref, record{s, p}, p.length)
}

// record is a record as the source of a Reader.
type record struct {
	segments *Segments
	place
}

func (r record) read(_ context.Context, p []byte, off int64) error {
	return r.segments.readAt(r.place, p, headerSize+off)
}

func (r record) whole(context.Context) ([]byte, error) { return r.segments.read(r.ref()) }

func (s *Segments) read(ref Ref) ([]byte, error) {
	p, err := ref.parse()
	if err != nil {
		return nil, err
	}
	raw := make([]byte, headerSize+p.length)
	if err := s.readAt(p, raw, 0); err != nil {
		return nil, err
	}
	return openRecord(raw)
}

// readAt reads a part of the record at a place, off octets behind its beginning.
func (s *Segments) readAt(p place, data []byte, off int64) error {
	f, err := os.Open(filepath.Join(s.dir, p.file()))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if p.offset+headerSize+p.length > info.Size() {
		return ErrGone // cut off
	}
	_, err = f.ReadAt(data, p.offset+off)
	return err
}

// Sweep erases the segments that are wholly past their retention at now, and returns how many. It goes on after
// an error and returns all of them.
func (s *Segments) Sweep(now time.Time) (removed int, err error) {
	for _, l := range s.openLanes() {
		l.dropExpired(now)
	}
	names, err := s.files()
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, n := range names {
		if now.Before(n.expires()) {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, n.file())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}

// Close waits until what was appended is on stable storage and lets go of the folder. Append then fails with ErrClosed; what was
// appended can still be read. Close may be called more than once.
func (s *Segments) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	for _, l := range s.openLanes() {
		l.close()
	}
	s.syncs.Wait()
	if !first {
		return nil
	}
	return s.lock.Close()
}

// files lists the segments in the folder. Files that are none are left alone.
func (s *Segments) files() ([]name, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var names []name
	for _, e := range entries {
		if n, ok := parseFile(e.Name()); ok {
			names = append(names, n)
		}
	}
	return names, nil
}

// openLanes lists the lanes there are.
func (s *Segments) openLanes() []*lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	lanes := make([]*lane, 0, len(s.lanes))
	for _, l := range s.lanes {
		lanes = append(lanes, l)
	}
	return lanes
}

func (s *Segments) lane(class int64) (*lane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	l := s.lanes[class]
	if l == nil {
		l = &lane{class: class, folder: s.folder, log: s.log, limit: s.limit, spawn: s.syncs.Go}
		s.lanes[class] = l
	}
	return l, nil
}

// byClass sorts the indices of records by their class in seconds.
func byClass(records []Record) (map[int64][]int, error) {
	classes := make(map[int64][]int, 2)
	for i, r := range records {
		if r.Class <= 0 || r.Class > maxClass || r.Class%time.Second != 0 {
			return nil, fmt.Errorf("%w: class %s is not whole seconds up to %s", ErrRecord, r.Class, maxClass)
		}
		if len(r.Data) == 0 || len(r.Data) > maxRecord {
			return nil, fmt.Errorf("%w: %d bytes", ErrRecord, len(r.Data))
		}
		class := int64(r.Class / time.Second)
		classes[class] = append(classes[class], i)
	}
	return classes, nil
}
