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
	t.Run("sqlite", func(t *testing.T) { test(t, Open(t, db.Options{})) })
}

// Open opens a new database with all tables, closed when the test ends.
func Open(t testing.TB, o db.Options) *db.DB {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	if _, _, err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}
