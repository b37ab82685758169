package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// The files are never edited once released: a change of the tables is a new file.
//
//go:embed migrations/sqlite/*.sql
var migrations embed.FS

// Migrate brings the tables to the version this program knows and returns the versions before and after.
// A database of a newer program is left alone with an error.
func (d *DB) Migrate(ctx context.Context) (from, to int64, err error) {
	pool, err := openMigrations(d.path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	files, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return 0, 0, err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, pool, files)
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
	if from < to {
		if _, err := p.Up(ctx); err != nil {
			return from, to, fmt.Errorf("migrate from version %d to %d: %w", from, to, err)
		}
	}
	d.version.Store(to)
	return from, to, nil
}

// Migrated reports, for readiness, whether the tables are still those that Migrate left.
func (d *DB) Migrated(ctx context.Context) error {
	var have int64
	if err := d.QueryRow(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&have); err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	if want := d.version.Load(); have != want {
		return fmt.Errorf("the database has schema version %d, this program wants %d", have, want)
	}
	return nil
}
