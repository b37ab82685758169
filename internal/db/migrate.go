package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// A migration consists of the file NNNNN_name.sql for both engines, the file NNNNN_name.sqlite.sql or NNNNN_name.postgres.sql for one of
// them, or both, which are then run in that order. A released file is never edited; a change of the tables gets a new number.
//
//go:embed migrations/*.sql
var migrations embed.FS

// blobType matches the name of the type that PostgreSQL calls BYTEA.
var blobType = regexp.MustCompile(`\bBLOB\b`)

// Migrate brings the tables to the version this program knows and returns the versions before and after.
// It returns an error for a database of a newer program and for one with other migrations (ErrHistory), and does not change it. On PostgreSQL an advisory lock makes processes that
// start at the same time migrate one after the other.
func (d *DB) Migrate(ctx context.Context) (from, to int64, err error) {
	pool, err := d.migrations()
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if d.engine == Postgres {
		unlock, err := lockMigrations(ctx, pool)
		if err != nil {
			return 0, 0, err
		}
		defer unlock()
	}
	from, to, err = migrate(ctx, d.engine, pool)
	if err == nil && d.engine == Postgres {
		err = setCollationC(ctx, pool)
	}
	if err == nil {
		d.version.Store(to)
	}
	return from, to, err
}

func migrate(ctx context.Context, e Engine, pool *sql.DB) (from, to int64, err error) {
	texts, err := migrationTexts(e, migrations)
	if err != nil {
		return 0, 0, fmt.Errorf("read the migrations: %w", err)
	}
	dialect := goose.DialectSQLite3
	if e == Postgres {
		dialect = goose.DialectPostgres
	}
	p, err := goose.NewProvider(dialect, pool, nil, goose.WithGoMigrations(migrationsOf(texts)...), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return 0, 0, fmt.Errorf("read the migrations: %w", err)
	}
	from, to, err = p.GetVersions(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("read the schema version: %w", err)
	}
	if err := checkHistory(ctx, pool, e, texts, from); err != nil {
		return from, to, err
	}
	if from > to {
		return from, to, fmt.Errorf("the database has schema version %d, this program knows %d: run a newer gonebox", from, to)
	}
	if from < to {
		if _, err := p.Up(ctx); err != nil {
			return from, to, fmt.Errorf("migrate from version %d to %d: %w", from, to, err)
		}
	}
	return from, to, nil
}

// migrationTexts returns the statements of the migrations of an engine by version.
func migrationTexts(e Engine, files fs.FS) (map[int64]string, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") }) // texts for both engines first
	texts := make(map[int64]string)
	for _, name := range names {
		number, rest, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: the name does not begin with a version", name)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		if other := (Per{SQLite: ".postgres.sql", Postgres: ".sqlite.sql"}).On(e); strings.HasSuffix(rest, other) {
			text = nil
		}
		if e == Postgres {
			text = blobType.ReplaceAll(text, []byte("BYTEA"))
		}
		texts[version] += string(text) // a version without statements for this engine is still recorded
	}
	return texts, nil
}

// migrationsOf returns the migrations with the given statements, each of which runs in a transaction and records its digest there.
func migrationsOf(texts map[int64]string) []*goose.Migration {
	var all []*goose.Migration
	for version, text := range texts {
		run := func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, text); err != nil { // without arguments both drivers run all statements of a text
				return err
			}
			return recordDigest(ctx, tx, version, text)
		}
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunTx: run}, nil))
	}
	return all
}

// migrationLock is the key of the advisory lock that a migrating process holds. The number is arbitrary.
const migrationLock = 0x676f6e65626f78

// lockMigrations waits until no other process migrates.
func lockMigrations(ctx context.Context, pool *sql.DB) (unlock func(), err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach the database: %w: %w", ErrUnavailable, err)
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return nil, errors.Join(fmt.Errorf("wait for another process's migration: %w", err), conn.Close())
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
		conn.Close() // the lock is released with the pool at the latest
	}, nil
}

// selectOtherCollations returns, as text, the statements that set collation C for every text column with another collation. With the
// collation of a language, identifiers would not sort by their times, and names could be equal that are distinct on SQLite.
const selectOtherCollations = `SELECT format('ALTER TABLE %I ALTER COLUMN %I TYPE text COLLATE "C"', c.relname, a.attname)
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
		AND c.relname <> 'goose_db_version' AND a.attnum > 0 AND NOT a.attisdropped
		AND a.atttypid = CAST('text' AS regtype) AND a.attcollation <> CAST('"C"' AS regcollation)`

// setCollationC sets collation C for every text column, so that values are compared by octets, whatever the collation of the database.
func setCollationC(ctx context.Context, pool *sql.DB) error {
	rows, err := pool.QueryContext(ctx, selectOtherCollations)
	if err != nil {
		return fmt.Errorf("read the collations: %w", err)
	}
	defer rows.Close()
	var changes []string
	for rows.Next() {
		var change string
		if err := rows.Scan(&change); err != nil {
			return fmt.Errorf("read the collations: %w", err)
		}
		changes = append(changes, change)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("read the collations: %w", err)
	}
	for _, change := range changes {
		if _, err := pool.ExecContext(ctx, change); err != nil {
			return fmt.Errorf("set the collation to C: %w", err)
		}
	}
	return nil
}

// Used reports whether the database has tables of the service, that is, whether a service has run on it.
func (d *DB) Used(ctx context.Context) (used bool, err error) {
	query := Per{
		SQLite:   "SELECT count(*) > 0 FROM sqlite_master WHERE name = 'goose_db_version'",
		Postgres: "SELECT to_regclass('goose_db_version') IS NOT NULL",
	}.On(d.engine)
	err = d.QueryRow(ctx, query).Scan(&used)
	if err == nil && used { // goose creates its table before the first migration
		err = d.QueryRow(ctx, "SELECT count(*) > 0 FROM goose_db_version WHERE version_id > 0").Scan(&used)
	}
	if err != nil {
		return false, fmt.Errorf("look for the tables: %w", err)
	}
	return used, nil
}

// Migrated returns an error unless the schema version is still the one that Migrate returned. It is a readiness check. On PostgreSQL the
// version may be higher, since a newer program may have migrated: its migrations keep this program working (docs/decisions/0023).
func (d *DB) Migrated(ctx context.Context) error {
	var have int64
	err := d.QueryRow(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&have)
	if Unavailable(err) && d.engine == Postgres {
		return errUnreachable
	}
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	want := d.version.Load()
	if have < want || have > want && d.engine == SQLite {
		return fmt.Errorf("the database has schema version %d, this program wants %d", have, want)
	}
	return nil
}
