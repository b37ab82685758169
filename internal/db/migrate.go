package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"
)

// The files are never edited once released: a change of the tables is a new file.
//
//go:embed migrations/*/*.sql
var migrations embed.FS

// Migrate brings the tables to the version this program knows and returns the versions before and after.
// A database of a newer program is left alone with an error. Processes that start together migrate one after the other.
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
		err = compareByOctet(ctx, pool)
	}
	if err == nil {
		d.version.Store(to)
	}
	return from, to, err
}

func migrate(ctx context.Context, e Engine, pool *sql.DB) (from, to int64, err error) {
	files, err := fs.Sub(migrations, Per{SQLite: "migrations/sqlite", Postgres: "migrations/postgres"}.On(e))
	if err != nil {
		return 0, 0, err
	}
	dialect := goose.DialectSQLite3
	if e == Postgres {
		dialect = goose.DialectPostgres
	}
	p, err := goose.NewProvider(dialect, pool, files)
	if err != nil {
		return 0, 0, fmt.Errorf("read the migrations: %w", err)
	}
	from, to, err = p.GetVersions(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("read the schema version: %w", err)
	}
	if from > to {
		return from, to, fmt.Errorf("the database has schema version %d, this program knows %d: run a newer gonebox", from, to)
	}
	if e == SQLite && from > 0 && from < secureDeletes {
		if err := rebuild(ctx, pool); err != nil {
			return from, to, err
		}
	}
	if from < to {
		if _, err := p.Up(ctx); err != nil {
			return from, to, fmt.Errorf("migrate from version %d to %d: %w", from, to, err)
		}
	}
	return from, to, nil
}

// secureDeletes is the version from which on SQLite overwrites what it deletes.
const secureDeletes = 18

// rebuild rewrites a SQLite file without what earlier versions left in it: deleted rows in free pages, and in the free
// space of pages in use. A crash leaves the file as it was. The copy that SQLite makes meanwhile lies beside the
// database, without a name, since the system's temporary folder may be too small for it, or memory.
func rebuild(ctx context.Context, pool *sql.DB) (err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var path string
	if err := conn.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&path); err != nil {
		return fmt.Errorf("find the database file: %w", err)
	}
	folder := "'" + strings.ReplaceAll(filepath.Dir(path), "'", "''") + "'"
	for _, statement := range []string{
		"PRAGMA temp_store_directory = " + folder, "PRAGMA temp_store = file", "VACUUM", "PRAGMA temp_store = memory", "PRAGMA temp_store_directory = ''",
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("rebuild the database file, which takes as much free space as twice what is in it: %s: %w", statement, err)
		}
	}
	return nil
}

// migrationLock is the advisory lock that whoever migrates holds. The number means nothing.
const migrationLock = 0x676f6e65626f78

// lockMigrations waits until no other process migrates.
func lockMigrations(ctx context.Context, pool *sql.DB) (unlock func(), err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach the database: %w: %w", ErrUnavailable, err)
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return nil, errors.Join(fmt.Errorf("wait for another process to migrate: %w", err), conn.Close())
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
		conn.Close() // which lets go of the lock in any case, once the pool is closed
	}, nil
}

// What is compared by the rules of a language would give identifiers another order than their time, and names another
// equality than SQLite's. So every column of text is made to compare by octets, however the database was made.
const (
	selectByLanguage = `SELECT format('ALTER TABLE %I ALTER COLUMN %I TYPE text COLLATE "C"', c.relname, a.attname)
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
		AND c.relname <> 'goose_db_version' AND a.attnum > 0 AND NOT a.attisdropped
		AND a.atttypid = CAST('text' AS regtype) AND a.attcollation <> CAST('"C"' AS regcollation)`
)

func compareByOctet(ctx context.Context, pool *sql.DB) error {
	rows, err := pool.QueryContext(ctx, selectByLanguage)
	if err != nil {
		return fmt.Errorf("look how text is compared: %w", err)
	}
	defer rows.Close()
	var changes []string
	for rows.Next() {
		var change string
		if err := rows.Scan(&change); err != nil {
			return fmt.Errorf("look how text is compared: %w", err)
		}
		changes = append(changes, change)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("look how text is compared: %w", err)
	}
	for _, change := range changes {
		if _, err := pool.ExecContext(ctx, change); err != nil {
			return fmt.Errorf("compare text by octets: %w", err)
		}
	}
	return nil
}

// Migrated reports, for readiness, whether the tables are still those that Migrate left. On PostgreSQL a newer program may
// have gone further meanwhile: its migrations go with the version before (docs/decisions/0023).
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
