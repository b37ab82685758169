// Package dbtest opens databases for tests. Only tests may import it.
package dbtest

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// Run runs a test on each engine, each time with a new database with all tables.
func Run(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Helper()
	RunWith(t, func(testing.TB) db.Options { return db.Options{} }, test)
}

// RunWith is Run with options, which are requested for each engine.
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
	path := filepath.Join(t.TempDir(), "test.db")
	Prepare(t, path)
	d := open(t, path, o)
	if _, _, err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// tables returns a SQLite file with all tables, without rows. Creating the tables takes longer than most tests.
var tables = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "gonebox-tables-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "tables.db")
	if err := fill(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Prepare creates a SQLite database with all tables at a path where no file is.
func Prepare(t testing.TB, path string) {
	t.Helper()
	file, err := tables()
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatalf("create a database for the test: %v", err)
	}
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
	if o.Timeout == 0 {
		o.Timeout = time.Minute // no test should fail because a machine is busy
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

// QueryPlan returns the steps in which SQLite would run a query.
func QueryPlan(t *testing.T, d *db.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := d.Query(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}
