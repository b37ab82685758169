// Package blob stores content that several messages share, or that is large, once (docs/decisions/0038): under the
// SHA-256 of the content, with the number of rows that refer to it. It does not depend on what refers to a blob: it
// adds references, and triggers on the referring tables remove them and delete the blob with the last one.
//
// Callers Pack content, collect References and call InsertTx in the transaction that inserts the referring rows. Read
// and Reader return parts of it. Content that is too large for one transaction is stored ahead of the rows that will
// refer to it, in several transactions; see Stager.
//
// A blob consists of chunks of 64 KiB of content, each compressed by itself and with a checksum, so that no statement
// is as large as an attachment and a part can be read without the rest. What is read is as it was written, or
// ErrDamaged.
package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/raw"
)

var (
	// ErrNotFound is the error of reading where no blob has the key: nothing refers to it any more.
	ErrNotFound = errors.New("blob not found")
	// ErrDamaged is the error of reading where the stored octets are not those that were written.
	ErrDamaged = errors.New("stored content is damaged")
)

// chunkSize is the octets of content in every chunk of a blob but the last. It is part of the stored format.
const chunkSize = 64 << 10

// Key identifies a blob: the SHA-256 of its content.
type Key [sha256.Size]byte

// KeyOf returns the key of content.
func KeyOf(content []byte) Key { return sha256.Sum256(content) }

// Content is the content of a blob before it is packed. Key must be KeyOf(Data).
type Content struct {
	Key  Key
	Data []byte
}

// chunks returns the number of chunks; content without octets has one chunk, too.
func (c Content) chunks() int { return max(1, (len(c.Data)+chunkSize-1)/chunkSize) }

// chunk returns the content of chunk i.
func (c Content) chunk(i int) []byte { return c.Data[i*chunkSize : min((i+1)*chunkSize, len(c.Data))] }

// Blob is content that is ready to be stored, in compressed chunks.
type Blob struct {
	Key    Key
	size   int // of the content
	chunks [][]byte
	crcs   []int64
}

// Pack prepares content for storing. It appends the compressed chunks to buf and returns the extended slice, which the blob aliases.
func Pack(buf []byte, c Content) (Blob, []byte) {
	b := Blob{Key: c.Key, size: len(c.Data)}
	for i := range c.chunks() {
		buf = b.pack(buf, c.chunk(i))
	}
	return b, buf
}

// pack appends one chunk.
func (b *Blob) pack(buf, content []byte) []byte {
	begin := len(buf)
	buf = raw.Compress(buf, content)
	b.chunks, b.crcs = append(b.chunks, buf[begin:]), append(b.crcs, Checksum(buf[begin:]))
	return buf
}

// Octets returns the number of octets that storing the blob takes.
func (b Blob) Octets() (n int) {
	for _, c := range b.chunks {
		n += len(c)
	}
	return n
}

// References are references to blobs that a transaction will insert. The zero value has none.
type References struct {
	rows   map[Key]refRow
	packed map[Key]Blob
	staged []Staged
}

// refRow is a row of the table blob: the references to add, and the octets of content.
type refRow struct{ refs, size int64 }

// Add adds n references to a blob, which is stored with them if it is not stored yet.
func (r *References) Add(b Blob, n int) {
	r.add(b.Key, b.size, n)
	if r.packed == nil {
		r.packed = make(map[Key]Blob)
	}
	r.packed[b.Key] = b
}

// AddStaged adds n references to each content of s, which a Stager has stored. They take the place of those that it holds.
func (r *References) AddStaged(s Staged, n int) {
	for _, c := range s.contents {
		r.add(c.key, c.size, n*c.times)
	}
	r.staged = append(r.staged, s)
}

// add counts n more references to a blob.
func (r *References) add(key Key, size, n int) {
	if r.rows == nil {
		r.rows = make(map[Key]refRow)
	}
	row := r.rows[key]
	r.rows[key] = refRow{refs: row.refs + int64(n), size: int64(size)}
}

// InsertTx adds references to blobs and stores those that are not stored yet. The data of the blobs must not change
// until the transaction has ended. Error: ErrStageLost if what a Stager stored has been removed.
//
// It locks the blobs in the order of their keys until the transaction ends. A caller that holds other locks must have
// them before: all transactions lock mailboxes first, then blobs.
func InsertTx(ctx context.Context, tx *db.Tx, r *References) error {
	var rows blobRows
	var chunks chunkRows
	for _, key := range sortedKeys(r.rows) {
		row := r.rows[key]
		rows.add(key, row.refs, row.size)
		if b, ok := r.packed[key]; ok {
			chunks.add(b, 0)
		}
	}
	if err := rows.insertTx(ctx, tx); err != nil {
		return fmt.Errorf("add references to %d blobs: %w", len(rows.hashes), err)
	}
	// From here on this transaction has the lock of each blob's row, and the order of all insertions of chunks is that of the locks.
	if err := chunks.insertTx(ctx, tx); err != nil {
		return fmt.Errorf("store %d blobs: %w", len(r.packed), err)
	}
	for _, s := range r.staged {
		if err := s.claimTx(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// sortedKeys returns the keys of a map in the order in which all transactions lock blobs.
func sortedKeys[V any](of map[Key]V) []Key {
	keys := make([]Key, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
	return keys
}

// LockTx locks the blobs whose keys a subquery selects, in the order that InsertTx locks them. A transaction that deletes rows that
// may refer to blobs calls it before it deletes them, with a query for their blobs: the triggers would lock the blobs in the order
// of the rows, and two transactions could wait for each other.
func LockTx(ctx context.Context, tx *db.Tx, keys string, args ...any) error {
	if tx.Engine() == db.SQLite { // there is one writer
		return nil
	}
	if err := tx.Queue(ctx, lockBlobs(keys), args...); err != nil {
		return fmt.Errorf("lock blobs: %w", err)
	}
	return nil
}

// castagnoli is the table of CRC-32C. It is never changed.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of stored octets.
func Checksum(data []byte) int64 { return int64(crc32.Checksum(data, castagnoli)) }
