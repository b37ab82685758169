package db

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrFull is in the chain of errors of writes that found no disk space. It is an ErrUnavailable.
var ErrFull = fmt.Errorf("the disk is full: %w", ErrUnavailable)

// Space is the disk space that SQLite's files have; see Options.
type Space interface {
	Full() bool     // updates that take space are to be refused
	Release() bool  // gives what was kept for updates that free space to them; false: there is nothing
	Reserve() int64 // octets that are kept at most
}

// Full reports whether updates that take disk space are refused at the moment.
func (d *DB) Full() bool { return d.store.full() }

// Freeing returns a context whose updates delete more than they add. They are carried out on a full disk, too, where all others
// fail with ErrFull.
func Freeing(ctx context.Context) context.Context { return context.WithValue(ctx, freeing{}, true) }

type freeing struct{}

func frees(ctx context.Context) bool { return ctx.Value(freeing{}) != nil }

// full reports whether updates are to be refused that take space.
func (w *writer) full() bool { return w.space != nil && w.space.Full() }

// fault makes an error of SQLite one that says whose fault it is: the disk's, or the statement's.
func fault(err error) error {
	said, ok := errors.AsType[*sqlite.Error](err)
	if !ok || errors.Is(err, ErrUnavailable) {
		return err
	}
	switch said.Code() & 0xff { // the rest tells details
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	default:
		return err
	}
}

// checkpointAt is how many pages may be in the log and not in the database yet: writing them back takes as much space again, which
// the reserve must have.
func checkpointAt(s Space) uint32 {
	if s == nil || s.Reserve() == 0 {
		return checkpointFrom
	}
	return uint32(max(1, min(checkpointFrom, s.Reserve()/pageSize/4)))
}

// withReserve runs fn, and once more where the disk was full and there is a reserve.
func (w *writer) withReserve(fn func() error) error {
	err := fault(fn())
	if errors.Is(err, ErrFull) && w.space != nil && w.space.Release() {
		err = fault(fn())
	}
	return err
}

// makeRoom are the ways to find disk space for updates that free some, the cheapest first: the log has what is in the database
// already, and then there is the reserve.
func (w *writer) makeRoom() []func() {
	truncate := func() {
		if err := w.truncate(context.Background()); err != nil {
			w.log.Debug("log of the database not truncated on a full disk", "error", err)
		}
	}
	return []func(){truncate, func() {
		if w.space != nil && w.space.Release() {
			truncate()
		}
	}}
}

// writeAgain runs those updates of a group again that free space and met a full disk.
func (w *writer) writeAgain(group []*update) {
	for _, makeRoom := range w.makeRoom() {
		var left []*update
		for _, u := range group {
			if u.frees && errors.Is(u.err, ErrFull) {
				u.err, u.tx = nil, Tx{again: true}
				left = append(left, u)
			}
		}
		if len(left) == 0 {
			return
		}
		makeRoom()
		w.transactAll(left)
	}
}
