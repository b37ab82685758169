package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrFull is wrapped by the errors of writes for which there was no disk space. It wraps ErrUnavailable.
var ErrFull = fmt.Errorf("the disk is full: %w", ErrUnavailable)

// ErrDamaged is wrapped by the errors of a database file that is not one, or not intact.
var ErrDamaged = errors.New("the file is damaged, or is no database")

// Space is the disk space of SQLite's files; see Options.
type Space interface {
	Full() bool     // reports whether updates that need space must be rejected
	Release() bool  // frees the reserve, for updates that free space; returns false if there is none
	Reserve() int64 // returns the size of a full reserve, in octets
}

// Full reports whether updates that need disk space are rejected now.
func (d *DB) Full() bool { return d.store.full() }

// Freeing returns a context for updates that delete more than they add. They are possible even on a full disk, where all other updates fail
// with ErrFull.
func Freeing(ctx context.Context) context.Context { return context.WithValue(ctx, freeing{}, true) }

type freeing struct{}

func isFreeing(ctx context.Context) bool { return ctx.Value(freeing{}) != nil }

// full reports whether updates that need space must be rejected.
func (w *writer) full() bool { return w.space != nil && w.space.Full() }

// classify wraps an error of SQLite in ErrFull, ErrUnavailable or ErrDamaged if it is caused by the disk and not by the statement.
func classify(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok || errors.Is(err, ErrUnavailable) {
		return err
	}
	switch e.Code() & 0xff { // the primary result code
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	default:
		return err
	}
}

// checkpointThreshold returns the number of pages in the log, and not in the database file, at which the checkpointer begins. It is small
// enough for the reserve: writing pages back can need as much space again.
func checkpointThreshold(s Space) uint32 {
	if s == nil || s.Reserve() == 0 {
		return checkpointFrom
	}
	return uint32(max(1, min(checkpointFrom, s.Reserve()/pageSize/4)))
}

// openAttempts is how often openWriterPatiently tries, and openPause the time between two attempts. Together they outlast the five seconds
// after which ext4 commits its journal.
const (
	openAttempts = 8
	openPause    = time.Second
)

// openWriterPatiently is openWriter for a disk that may be full. SQLite truncates the index that a killed process left, and needs the same
// space for a new one; but file systems such as ext4 do not reuse freed blocks before they commit their journal. So it releases the reserve
// after an error of the disk, and tries again for some seconds.
func openWriterPatiently(ctx context.Context, path string, o Options) (*writer, error) {
	for attempt := 1; ; attempt++ {
		w, err := openWriter(ctx, path, o)
		if !errors.Is(classify(err), ErrUnavailable) || attempt == openAttempts {
			return w, err
		}
		if o.Space != nil {
			o.Space.Release()
		}
		o.Logger.Warn("could not open the database, trying again", "attempt", attempt, "error", err)
		pause, end := context.WithTimeout(ctx, openPause) // by the clock that file systems go by
		<-pause.Done()
		end()
		if ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

// retryWithReserve runs fn, and once more if the disk was full and there was a reserve to release.
func (w *writer) retryWithReserve(fn func() error) error {
	err := classify(fn())
	if errors.Is(err, ErrFull) && w.space != nil && w.space.Release() {
		err = classify(fn())
	}
	return err
}

// reclaims returns functions that gain disk space for updates that free some, the cheapest first: truncating the log, after its pages are in
// the database file, and releasing the reserve.
func (w *writer) reclaims() []func() {
	truncate := func() {
		if err := w.truncate(context.Background()); err != nil {
			w.log.Debug("could not truncate the write-ahead log on a full disk", "error", err)
		}
	}
	return []func(){truncate, func() {
		if w.space != nil && w.space.Release() {
			truncate()
		}
	}}
}

// retryFreeing runs those updates of a group again that free space and failed because the disk was full.
func (w *writer) retryFreeing(group []*update) {
	for _, reclaim := range w.reclaims() {
		var retry []*update
		for _, u := range group {
			if u.freeing && errors.Is(u.err, ErrFull) {
				u.err, u.tx = nil, Tx{again: true}
				retry = append(retry, u)
			}
		}
		if len(retry) == 0 {
			return
		}
		reclaim()
		w.transactAll(retry)
	}
}
