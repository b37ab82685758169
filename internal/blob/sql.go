package blob

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// After SELECT … FROM SQLite would parse ON as the condition of a join; WHERE true before ON CONFLICT prevents that
// (https://sqlite.org/lang_upsert.html#parsing_ambiguity).
const (
	upsertBlobs = `INSERT INTO blob (hash, refs, size) SELECT $1, $2, $3 WHERE true
		ON CONFLICT (hash) DO UPDATE SET refs = blob.refs + excluded.refs`
	insertChunks = `INSERT INTO blob_chunk (hash, number, crc, data) SELECT $1, $2, $3, $4 WHERE true
		ON CONFLICT (hash, number) DO NOTHING`
	selectChunk = `SELECT blob.size, blob_chunk.crc, blob_chunk.data
		FROM blob LEFT JOIN blob_chunk ON blob_chunk.hash = blob.hash AND blob_chunk.number = $2 WHERE blob.hash = $1`

	insertStages      = "INSERT INTO blob_stage (id, hash, created_at) VALUES ($1, $2, $3)"
	deleteStage       = "DELETE FROM blob_stage WHERE id = $1"
	selectStagedKeys  = "SELECT hash FROM blob_stage WHERE id = $1"
	countStages       = "SELECT count(*) FROM blob_stage WHERE id = $1"
	selectOldStages   = "SELECT DISTINCT id FROM blob_stage WHERE created_at < $1"
	selectChunkCounts = `SELECT blob_chunk.hash, count(*) FROM blob_chunk
		WHERE blob_chunk.hash IN (SELECT hash FROM blob_stage WHERE id = $1) GROUP BY blob_chunk.hash`
)

// lockBlobs returns the statement that locks the blobs whose hashes the query keys selects, in the order of their
// hashes. It is for PostgreSQL alone.
func lockBlobs(keys string) string {
	return "SELECT 1 FROM blob WHERE hash IN (" + keys + ") ORDER BY hash FOR UPDATE"
}

// blobRows holds rows of blob by column.
type blobRows struct {
	hashes      db.Octets
	refs, sizes db.Numbers
}

func (r *blobRows) add(key Key, refs, size int64) {
	r.hashes, r.refs, r.sizes = append(r.hashes, key[:]), append(r.refs, refs), append(r.sizes, size)
}

func (r *blobRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, upsertBlobs, r.hashes, r.refs, r.sizes)
}

// chunkRows holds rows of blob_chunk by column.
type chunkRows struct {
	hashes        db.Octets
	numbers, crcs db.Numbers
	data          db.Octets
}

// add adds chunks of a blob, numbered from first.
func (r *chunkRows) add(b Blob, first int) {
	for i, crc := range b.crcs {
		r.hashes, r.numbers, r.crcs = append(r.hashes, b.Key[:]), append(r.numbers, int64(first+i)), append(r.crcs, crc)
		r.data = append(r.data, b.chunks[i])
	}
}

func (r *chunkRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertChunks, r.hashes, r.numbers, r.crcs, r.data)
}

// stageRows holds rows of blob_stage by column.
type stageRows struct {
	ids     db.Texts
	hashes  db.Octets
	created db.Numbers
}

func (r *stageRows) add(id string, key Key, at time.Time) {
	r.ids, r.hashes, r.created = append(r.ids, id), append(r.hashes, key[:]), append(r.created, at.UnixMicro())
}

func (r *stageRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertStages, r.ids, r.hashes, r.created)
}

// countStaged returns how many blobs are staged under id.
func countStaged(ctx context.Context, q db.Queryer, id string) (n int, err error) {
	err = q.QueryRow(ctx, countStages, id).Scan(&n)
	return n, err
}

// chunkCounts returns the number of stored chunks of each blob that is staged under id.
func chunkCounts(ctx context.Context, tx *db.Tx, id string) (map[Key]int, error) {
	rows, err := tx.Query(ctx, selectChunkCounts, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counts := make(map[Key]int)
	for rows.Next() {
		var hash []byte
		var n int
		if err := rows.Scan(&hash, &n); err != nil {
			return nil, err
		}
		if len(hash) == len(Key{}) {
			counts[Key(hash)] = n
		}
	}
	return counts, rows.Err()
}
