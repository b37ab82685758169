// Package original keeps original messages for their short time, in append-only segment files beside the database
// (architecture, "Originals live beside the database"). It refuses to know whose a message is or when it may be
// shown: it keeps records at least as long as their class says, and erases whole files.
//
// A segment holds the records of one retention class and one quarter of an hour. Its file begins with a magic text; each
// record is a length, a checksum and the data; a record without data ends a segment that was closed in order. Files are
// written past the system's cache, in whole blocks (docs/decisions/0027): most originals are never read.
// Records are never changed, and a file that has been closed is never written again: after a restart, as after
// a failed write, records go to a new file. So a reference can never lead to another message than its own.
package original

import (
	"errors"
	"time"
)

// Record is one original message to keep.
type Record struct {
	Class time.Duration // how long it must be readable: whole seconds, up to 366 days; it is erased up to a quarter of an hour later
	Data  []byte        // as Compress returned it
}

var (
	// ErrGone says that a record is not there: erased, or never on stable storage.
	ErrGone = errors.New("original message is gone")
	// ErrDamaged says that something is there which is not the record that was written.
	ErrDamaged = errors.New("original message is damaged")
	// ErrClosed says that Append came after Close.
	ErrClosed = errors.New("original messages are closed")
	// ErrLocked says that another process, or another Segments of this one, uses the folder.
	ErrLocked = errors.New("in use by another process")
	// ErrRecord says that a record cannot be kept: its class, its size or its time is out of bounds.
	ErrRecord = errors.New("record out of bounds")
)

const (
	quarter     = 15 * time.Minute
	maxClass    = 366 * 24 * time.Hour
	maxRecord   = MaxSize + 1 // what Compress returns at most
	segmentSize = 256 << 20   // a segment that has grown to this gives way to a new one, which bounds the check at start
	leastRoom   = 64 << 10    // what is written from is at least as large, so that it does for most sets of mail
	keepBuffer  = 8 << 20     // and is not kept where it is larger than this
)
