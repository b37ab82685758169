package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ErrHistory is returned by Migrate for a database whose migrations are not those of this program although they have the same numbers, as
// a build before the first release made them. Its tables are others, so that every call would fail or store what cannot be read.
var ErrHistory = errors.New("the database was made by a build of gonebox with other migrations, and this program can neither use nor migrate it: " +
	"serve it with the build that made it, or name an empty data_dir or database.url to begin with a new database")

// The statements on migration_digest, the table that the first migration creates.
const (
	selectDigests = "SELECT version, digest FROM migration_digest"
	insertDigest  = "INSERT INTO migration_digest (version, digest) VALUES ($1, $2)"

	selectSQLiteHasDigests   = "SELECT count(*) > 0 FROM sqlite_master WHERE name = 'migration_digest'"
	selectPostgresHasDigests = "SELECT to_regclass('migration_digest') IS NOT NULL"
)

var comment = regexp.MustCompile(`--[^\n]*`)

// digest returns the digest of a migration. Comments and white space do not change it, so that a comment may be corrected.
func digest(text string) string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(comment.ReplaceAllString(text, "")), " ")))
	return hex.EncodeToString(sum[:])
}

// recordDigest stores the digest of a migration, in the transaction that applies it.
func recordDigest(ctx context.Context, tx *sql.Tx, version int64, text string) error {
	if _, err := tx.ExecContext(ctx, insertDigest, version, digest(text)); err != nil {
		return fmt.Errorf("record the digest of migration %d: %w", version, err)
	}
	return nil
}

// checkHistory returns an error that wraps ErrHistory unless the migrations that brought a database to a version are those of this program,
// as far as it knows them.
func checkHistory(ctx context.Context, pool *sql.DB, e Engine, texts map[int64]string, version int64) error {
	if version == 0 {
		return nil
	}
	stored, err := digests(ctx, pool, e)
	if err != nil {
		return fmt.Errorf("read the digests of the migrations: %w", err)
	}
	if stored == nil {
		return fmt.Errorf("%w (it has schema version %d and no digests of its migrations)", ErrHistory, version)
	}
	for _, v := range slices.Sorted(maps.Keys(texts)) {
		if v <= version && stored[v] != digest(texts[v]) {
			return fmt.Errorf("%w (migration %d is another one)", ErrHistory, v)
		}
	}
	return nil
}

// digests returns the stored digests by version, or nil if the database has no table of them.
func digests(ctx context.Context, pool *sql.DB, e Engine) (map[int64]string, error) {
	var exists bool
	query := Per{SQLite: selectSQLiteHasDigests, Postgres: selectPostgresHasDigests}.On(e)
	if err := pool.QueryRowContext(ctx, query).Scan(&exists); err != nil || !exists {
		return nil, err
	}
	rows, err := pool.QueryContext(ctx, selectDigests)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	stored := make(map[int64]string)
	for rows.Next() {
		var version int64
		var sum string
		if err := rows.Scan(&version, &sum); err != nil {
			return nil, err
		}
		stored[version] = sum
	}
	return stored, rows.Err()
}
