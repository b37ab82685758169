// Package raw keeps raw messages for their short time, in append-only segment files beside the database
// (architecture, "Raw messages live beside the database"). It refuses to know whose a message is or when it may be
// shown: it keeps records at least as long as their class says, and erases whole files.
//
// A segment holds the records of one retention class and twenty seconds. Its file begins with a magic text; each
// record is a length, a checksum and the data; a record without data ends a segment that was closed in order. Files are
// written past the system's cache, in whole blocks (docs/decisions/0027): most raw messages are never read.
// Records are never changed, and a file that has been closed is never written again: after a restart, as after
// a failed write, records go to a new file. So a reference can never lead to another message than its own.
package raw

import (
	"errors"
	"time"
)

// Record is one raw message to keep.
type Record struct {
	Class time.Duration // how long it must be readable: whole seconds, up to 366 days; Sweep erases it at most 35 seconds later
	Data  []byte        // as Compress returned it
}

var (
	// ErrGone says that a record is not there: erased, or never on stable storage.
	ErrGone = errors.New("raw message is gone")
	// ErrDamaged says that something is there which is not the record that was written.
	ErrDamaged = errors.New("raw message is damaged")
	// ErrClosed says that Append came after Close.
	ErrClosed = errors.New("raw messages are closed")
	// ErrLocked says that another process, or another Segments of this one, uses the folder.
	ErrLocked = errors.New("in use by another process")
	// ErrRecord says that a record cannot be kept: its class, its size or its time is out of bounds.
	ErrRecord = errors.New("record out of bounds")
)

const (
	// period is how long a segment, or a partition, takes what arrives. With slack and the time between two sweeps it bounds how much
	// longer than its class a record is kept.
	period    = 20 * time.Second
	oldPeriod = 15 * time.Minute // as it was in versions before
	// slack is how much later than it was numbered a message may be received: its retention counts from then. A large mail waits
	// longest for its rows (inbound's stagedFor).
	slack = 15 * time.Second

	maxClass    = 366 * 24 * time.Hour
	maxRecord   = MaxSize + MaxSize/ChunkSize*chunkHeader + chunksHead // what CompressChunks returns at most
	segmentSize = 256 << 20                                            // a segment that has grown to this gives way to a new one, which bounds the check at start
	leastRoom   = 64 << 10                                             // what is written from is at least as large, so that it does for most sets of mail
	keepBuffer  = 8 << 20                                              // and is not kept where it is larger than this
	largeRecord = 1 << 20                                              // a record from this size on is not copied before it is written
	writeSize   = 1 << 20                                              // but a part of this size after the other
)
