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

// Segments stores records in files of one folder, which one process at a time uses. Open creates it. It is safe for
// concurrent use. It has a classWriter for each retention class, and at most one goroutine for each open file.
type Segments struct {
	dir    string
	clock  clock.Clock
	log    *slog.Logger
	folder folder
	lock   io.Closer
	limit  int64          // size in octets from which a new segment is begun
	syncs  sync.WaitGroup // the goroutines of segments

	// mu guards the fields below.
	mu      sync.Mutex
	writers map[int64]*classWriter // by class in seconds
	closed  bool
}

// Open locks the folder dir, creates it if it is missing, removes the segments whose retention is over, and cuts off
// records that a crash left incomplete. It fails with ErrLocked if the folder is in use. The caller must call Close.
func Open(dir string, c clock.Clock, log *slog.Logger) (*Segments, error) {
	return open(dir, c, log, osFolder{dir}, segmentSize)
}

// open is Open with a folder and a segment size that tests replace.
func open(dir string, c clock.Clock, log *slog.Logger, f folder, limit int64) (*Segments, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of raw messages: %w", err)
	}
	dirLock, err := lock(dir)
	if err != nil {
		return nil, err
	}
	s := &Segments{dir: dir, clock: c, log: log, folder: f, lock: dirLock, limit: limit, writers: make(map[int64]*classWriter)}
	if err := s.checkAll(); err != nil {
		dirLock.Close()
		return nil, fmt.Errorf("check raw messages in %s: %w", dir, err)
	}
	return s, nil
}

// Append begins to write records, all of which arrived at the given time, and to make them durable, on goroutines that
// end by themselves. refs[i] is the reference to records[i]. It may be stored at once, but it is valid only if
// synced.Wait returns nil. Append copies records below 1 MiB; the data of larger ones must not change until synced.Wait
// returns. After an error of Append or of Wait, none of the references is valid, though some records may have been
// written. The store remains usable.
//
// Errors: ErrRecord, ErrClosed, and those of the file system.
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
		w, err := s.writer(class)
		if err != nil {
			return nil, nil, err
		}
		g, err := w.append(at, records, which, refs)
		if err != nil {
			return nil, nil, err
		}
		synced.groups = append(synced.groups, g)
	}
	return refs, synced, nil
}

// Sync is the progress of one Append to stable storage.
type Sync struct{ groups []*group }

// Wait returns nil once everything that Append wrote is on stable storage. An error means that none of its references
// is valid. It may be called more than once, and from several goroutines. It is not bound by a context: a disk cannot
// be cancelled.
func (sy *Sync) Wait() error {
	var errs []error
	for _, g := range sy.groups {
		<-g.done
		errs = append(errs, g.err)
	}
	return errors.Join(errs...)
}

// Has reports whether the complete record is there. It reads all of it.
func (s *Segments) Has(ref Ref) bool {
	_, err := s.read(ref)
	return err == nil
}

// Read returns the octets that were passed to Compress before Append. It fails with ErrGone if the record is not there,
// and with ErrDamaged if it is not what was written: it never returns wrong octets. It needs memory for the whole message;
// a Reader does not.
func (s *Segments) Read(ref Ref) ([]byte, error) {
	data, err := s.read(ref)
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref.Redacted(), err)
	}
	return decompressRecord(ref, data)
}

// decompressRecord returns the octets of a stored record. Error: ErrDamaged.
func decompressRecord(ref Ref, data []byte) ([]byte, error) {
	raw, err := Decompress(data)
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w: %w", ref.Redacted(), ErrDamaged, err)
	}
	return raw, nil
}

// NewReader returns a reader of a record. ctx bounds this call only. Errors: ErrGone, ErrDamaged.
func (s *Segments) NewReader(ctx context.Context, ref Ref) (*Reader, error) {
	p, err := ref.parse()
	if err != nil {
		return nil, fmt.Errorf("read raw message %s: %w", ref.Redacted(), err)
	}
	return newReader(ctx, ref, sealed{segmentRecord{s, p}, p.seal}, p.length)
}

// segmentRecord is a record in a segment as the source of a Reader. It opens the file for each read.
type segmentRecord struct {
	segments *Segments
	segmentRef
}

func (r segmentRecord) read(_ context.Context, p []byte, off int64) error {
	return r.segments.readAt(r.segmentRef, p, headerSize+off)
}

func (r segmentRecord) whole(context.Context) ([]byte, error) {
	return r.segments.readData(r.segmentRef)
}

// read returns the data of a record as it was sealed.
func (s *Segments) read(ref Ref) ([]byte, error) {
	p, err := ref.parse()
	if err != nil {
		return nil, err
	}
	data, err := s.readData(p)
	if err != nil {
		return nil, err
	}
	return p.seal.unseal(data)
}

// readData returns the data of a record as it is stored, after checking its checksum.
func (s *Segments) readData(p segmentRef) ([]byte, error) {
	raw := make([]byte, headerSize+p.length)
	if err := s.readAt(p, raw, 0); err != nil {
		return nil, err
	}
	return parseRecord(raw)
}

// readAt reads a part of the record at a segmentRef, off octets behind the beginning of its header. A record that would end
// behind the end of the file was cut off after a crash or a failed sync: it fails with ErrGone.
func (s *Segments) readAt(p segmentRef, data []byte, off int64) error {
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

// Sweep erases the segments whose retention was over at now, and returns how many. It continues after an error and
// returns all errors; the next call tries again. A call of Next that has already opened a file can still read it.
func (s *Segments) Sweep(now time.Time) (removed int, err error) {
	for _, w := range s.allWriters() {
		w.retireExpired(now)
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

// Close waits until what was appended is on stable storage, and unlocks the folder. Append then fails with ErrClosed;
// stored records can still be read. Close may be called more than once.
func (s *Segments) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	for _, w := range s.allWriters() {
		w.close()
	}
	s.syncs.Wait()
	if !first {
		return nil
	}
	return s.lock.Close()
}

// files lists the segments in the folder. Other files are left alone.
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

// allWriters returns a copy of the writers, so that no caller holds the lock while it closes files.
func (s *Segments) allWriters() []*classWriter {
	s.mu.Lock()
	defer s.mu.Unlock()
	writers := make([]*classWriter, 0, len(s.writers))
	for _, w := range s.writers {
		writers = append(writers, w)
	}
	return writers
}

// writer returns the classWriter of a class, which it creates if necessary. Error: ErrClosed.
func (s *Segments) writer(class int64) (*classWriter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	w := s.writers[class]
	if w == nil {
		w = &classWriter{class: class, folder: s.folder, log: s.log, limit: s.limit, spawn: s.syncs.Go}
		s.writers[class] = w
	}
	return w, nil
}

// byClass checks records and returns their indices by their class in seconds. Error: ErrRecord.
func byClass(records []Record) (map[int64][]int, error) {
	classes := make(map[int64][]int, 2)
	for i, r := range records {
		if r.Class <= 0 || r.Class > maxClass || r.Class%time.Second != 0 {
			return nil, fmt.Errorf("%w: class %s is not whole seconds up to %s", ErrRecord, r.Class, maxClass)
		}
		if len(r.Data) == 0 || len(r.Data) > maxRecord {
			return nil, fmt.Errorf("%w: %d bytes", ErrRecord, len(r.Data))
		}
		if r.seal == (seal{}) {
			return nil, fmt.Errorf("%w: it is not encrypted", ErrRecord)
		}
		class := int64(r.Class / time.Second)
		classes[class] = append(classes[class], i)
	}
	return classes, nil
}
