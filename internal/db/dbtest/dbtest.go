// Package dbtest opens databases for tests. It refuses to be imported by anything but tests.
package dbtest

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
)

// Run runs a test once on each engine, each time on a new database with all tables.
func Run(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Helper()
	RunWith(t, func(testing.TB) db.Options { return db.Options{} }, test)
}

// RunWith is Run with options, made anew for each engine.
func RunWith(t *testing.T, options func(t testing.TB) db.Options, test func(t *testing.T, d *db.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, Open(t, options(t))) })
	t.Run("postgres", func(t *testing.T) { test(t, OpenPostgres(t, options(t))) })
}

// Open opens a new SQLite database with all tables, closed when the test ends.
func Open(t testing.TB, o db.Options) *db.DB {
	t.Helper()
	if _, measured := t.(*testing.B); !measured {
		o.Unsynced = true
	}
	d := open(t, filepath.Join(t.TempDir(), "test.db"), o)
	if _, _, err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// OpenPostgres opens a new PostgreSQL database with all tables, closed and dropped when the test ends.
func OpenPostgres(t testing.TB, o db.Options) *db.DB {
	t.Helper()
	return open(t, PostgresURL(t), o)
}

func open(t testing.TB, target string, o db.Options) *db.DB {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d, err := db.Open(t.Context(), target, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return d
}
