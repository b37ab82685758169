// Package raw stores raw messages until their retention ends: Segments in append-only files beside the database, Table
// in partitions of PostgreSQL. It does not depend on mailboxes and does not decide who may read a message. It keeps a
// record at least as long as its class says, and erases whole files or partitions (docs/decisions/0044).
//
// Callers compress a message with Compress or CompressChunks, encrypt it with Seal, append the records, and store the Refs that Append
// returns with their messages. A Ref contains the key of its record, so the record cannot be read any more once the rows with its Ref are
// deleted (docs/decisions/0082). Read and Reader return the message again, or ErrGone or ErrDamaged, but never other octets. A
// record of Segments is durable once Sync.Wait has returned nil, a record of a Table once the transaction of InsertTx
// is committed. Callers must call Sweep every few seconds, since retention depends on it.
//
// A segment holds the records of one retention class that arrived within twenty seconds. Its file begins with a magic
// text. Each record is a length, a checksum and the data; a record without data ends a segment that was closed in
// order. Files are written with direct I/O, in whole blocks, since most raw messages are never read and would only
// displace other data from the system's cache (docs/decisions/0027 has the figures). Records are never changed, and a
// file that has been closed is never written again: after a restart, as after a failed write, records go to a new
// file. A reference can therefore never lead to another message.
package raw

import (
	"errors"
	"time"
)

// Record is a raw message to store, made by Seal.
type Record struct {
	Class time.Duration // retention: whole seconds, at most 366 days. Sweep erases the record at most 35 seconds later
	Data  []byte        // encrypted; at least one octet
	seal  seal          // goes into the reference, and nowhere else
}

var (
	// ErrGone means that there is no such record: it was erased, or never reached stable storage. Segments cannot
	// distinguish the two.
	ErrGone = errors.New("raw message is gone")
	// ErrDamaged means that the stored data is not what was written, or that a Ref was not made by this package.
	ErrDamaged = errors.New("raw message is damaged")
	// ErrClosed means that Append was called after Close of Segments.
	ErrClosed = errors.New("raw messages are closed")
	// ErrLocked means that another process, or another Segments of this one, uses the folder.
	ErrLocked = errors.New("in use by another process")
	// ErrRecord means that a record cannot be stored: its class, its size or its time is out of bounds.
	ErrRecord = errors.New("record out of bounds")
)

const (
	// period is how long records are added to a segment or a partition. A record is kept longer than its class says by at most period, slack
	// and the interval between two sweeps together.
	period = 20 * time.Second
	// slack is how much later than its record a message may get its time of reception, from which its retention counts. The rows of a large
	// mail may follow its record by as much (stagedFor of package inbound).
	slack = 15 * time.Second

	// maxClass is the longest retention, a leap year.
	maxClass = 366 * 24 * time.Hour
	// maxRecord is the longest result of CompressChunks, in octets.
	maxRecord = MaxSize + MaxSize/ChunkSize*chunkHeader + chunksHead
	// segmentSize is the size in octets from which a new segment is begun. It bounds the time that checking a segment takes at start.
	segmentSize = 256 << 20

	minBuffer       = 64 << 10 // octets of the smallest buffer to write from; enough for most batches of mail
	maxPooledBuffer = 8 << 20  // octets of the largest buffer that is kept for another batch

	// largeRecord is the size in octets from which a record is not copied when it is appended, but while it is written, in parts of writeSize
	// octets.
	largeRecord = 1 << 20
	writeSize   = 1 << 20
)
