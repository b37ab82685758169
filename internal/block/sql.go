package block

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

const columns = "id, kind, value, reason, created_at, coalesce(expires_at, 0)"

const (
	insertBlock = `INSERT INTO block (id, kind, value, reason, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, nullif(CAST($6 AS BIGINT), 0))`
	selectBlock = "SELECT " + columns + " FROM block WHERE id = $1"
	selectPage  = "SELECT " + columns + ` FROM block WHERE ($1 = '' OR id < $1) AND (expires_at IS NULL OR expires_at > $2)
		ORDER BY id DESC LIMIT $3`
	// The queries leave out expired blocks, which Sweep may not have deleted yet.
	selectFollowing = "SELECT " + columns + " FROM block WHERE id > $1 AND (expires_at IS NULL OR expires_at > $2) ORDER BY id LIMIT $3"
	deleteBlock     = "DELETE FROM block WHERE id = $1"
	deleteExpired   = "DELETE FROM block WHERE id IN (SELECT id FROM block WHERE expires_at <= $1 LIMIT $2)"
	countBlocks     = "SELECT count(*) FROM block"
	countPatterns   = "SELECT count(*) FROM block WHERE kind = 'recipient' AND value LIKE '%*%'"
	selectVersion   = "SELECT coalesce(max(version), 0) FROM block_version"
	// The version is raised in the transaction of the change, so that it is never ahead of the rows. The lock of its row
	// also serializes concurrent additions.
	nextVersion = `INSERT INTO block_version (id, version) VALUES ('block', 1)
		ON CONFLICT (id) DO UPDATE SET version = block_version.version + 1`
)

// scan reads a row with the columns of the constant columns.
func scan(row db.Row) (*Block, error) {
	var b Block
	var created, expires int64
	if err := row.Scan(&b.ID, &b.Kind, &b.Value, &b.Reason, &created, &expires); err != nil {
		return nil, err
	}
	b.CreatedAt, b.ExpiresAt = db.Moment(created), db.Moment(expires)
	return &b, nil
}

// list returns the blocks that a query selects.
func list(ctx context.Context, q db.Queryer, query string, args ...any) ([]*Block, error) {
	all, err := db.Collect(ctx, q, scan, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list blocks: %w", err)
	}
	return all, nil
}

// each calls fn with every block that has not expired. It reads them in pages, so that no query occupies a connection
// for long. The pages are not read in one transaction: a block that is added between two of them raises the version, so
// that the next Reload reads all again.
func each(ctx context.Context, q db.Queryer, now time.Time, fn func(kind Kind, value string, until int64)) error {
	const pageSize = 5000
	last := id.Block("")
	for {
		blocks, err := list(ctx, q, selectFollowing, last, now.UnixMicro(), pageSize)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			fn(b.Kind, b.Value, until(b.ExpiresAt))
			last = b.ID
		}
		if len(blocks) < pageSize {
			return nil
		}
	}
}

// checkLimitsTx returns an error if blocksMax or patternsMax does not allow another block like b. Expired blocks count
// until Sweep deletes them. Error: block.limit_reached.
func checkLimitsTx(ctx context.Context, tx *db.Tx, b *Block) error {
	n, err := db.Value[int](tx.QueryRow(ctx, countBlocks))
	if err == nil && n >= blocksMax {
		return problem.Detailf(problem.BlockLimitReached, "there are %d blocks; remove some first", n)
	}
	if err != nil || b.Kind != Recipient || !strings.Contains(b.Value, "*") {
		return err
	}
	if n, err = db.Value[int](tx.QueryRow(ctx, countPatterns)); err == nil && n >= patternsMax {
		return problem.Detailf(problem.BlockLimitReached, "there are %d patterns of recipients; remove some first", n)
	}
	return err
}

// insertTx inserts a block and raises the version.
func insertTx(ctx context.Context, tx *db.Tx, b *Block) error {
	var expires int64
	if !b.ExpiresAt.IsZero() {
		expires = b.ExpiresAt.UnixMicro()
	}
	if _, err := tx.Exec(ctx, insertBlock, b.ID, b.Kind, b.Value, b.Reason, b.CreatedAt.UnixMicro(), expires); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, nextVersion)
	return err
}

// getTx returns a block. Error: block.not_found.
func getTx(ctx context.Context, tx *db.Tx, block string) (*Block, error) {
	b, err := scan(tx.QueryRow(ctx, selectBlock, block))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, problem.Detailf(problem.BlockNotFound, "there is no block %s", block)
	}
	return b, err
}

// removeTx deletes a block and raises the version.
func removeTx(ctx context.Context, tx *db.Tx, block id.Block) error {
	if _, err := tx.Exec(ctx, deleteBlock, block); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, nextVersion)
	return err
}

// versionOf returns the version of the stored blocks. It is 0 if no block was ever added.
func versionOf(ctx context.Context, q db.Queryer) (int64, error) {
	version, err := db.Value[int64](q.QueryRow(ctx, selectVersion))
	if err != nil {
		return 0, fmt.Errorf("read the version of the blocks: %w", err)
	}
	return version, nil
}
