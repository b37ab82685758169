package db_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// onCopies calls test on each engine with a function that changes a migrated database by statements, and then migrates it again.
func onCopies(t *testing.T, test func(t *testing.T, migrateAfter func(statements ...string) error)) {
	t.Helper()
	run := func(t *testing.T, driver string, target func() (pool, url string)) {
		test(t, func(statements ...string) error {
			t.Helper()
			source, url := target()
			pool, err := sql.Open(driver, source)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range statements {
				if _, err := pool.ExecContext(t.Context(), s); err != nil {
					t.Fatalf("execute %s: %v", s, err)
				}
			}
			if err := pool.Close(); err != nil {
				t.Fatal(err)
			}
			d, err := db.Open(t.Context(), url, db.Options{Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			_, to, err := d.Migrate(t.Context())
			if err == nil {
				err = d.Migrated(t.Context())
			}
			var applied, digests int
			if err == nil {
				err = d.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM goose_db_version WHERE version_id > 0), (SELECT count(*) FROM migration_digest)").Scan(&applied, &digests)
			}
			if err == nil && digests != applied {
				t.Errorf("after Migrate to version %d there are %d digests, want one of each of the %d migrations", to, digests, applied)
			}
			return err
		})
	}
	t.Run("sqlite", func(t *testing.T) {
		run(t, "sqlite", func() (pool, url string) {
			path := filepath.Join(t.TempDir(), "test.db")
			dbtest.Prepare(t, path)
			return "file:" + path, path
		})
	})
	t.Run("postgres", func(t *testing.T) {
		run(t, "pgx", func() (pool, url string) {
			url = dbtest.PostgresURL(t)
			return url, url
		})
	})
}

// Builds from before the first release had up to 16 migrations, and until the last of them no digests.
func TestDatabaseOfAnotherHistoryIsRefused(t *testing.T) {
	onCopies(t, func(t *testing.T, migrateAfter func(...string) error) {
		version := func(n int) string {
			return fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied, tstamp) VALUES (%d, '1', CURRENT_TIMESTAMP)", n)
		}
		const noDigests, otherTables = "DROP TABLE migration_digest", "UPDATE migration_digest SET digest = 'of other tables' WHERE version = 1"
		for name, statements := range map[string][]string{
			"version 1 without digests":                        {noDigests},
			"version 15 without digests":                       {version(15), noDigests},
			"version 16 with digests":                          {version(16), otherTables, "INSERT INTO migration_digest (version, digest) VALUES (16, 'x')"},
			"the digest of the first migration is another one": {otherTables},
			"the digest of the first migration is missing":     {"DELETE FROM migration_digest"},
		} {
			err := migrateAfter(statements...)
			if !errors.Is(err, db.ErrHistory) || !strings.Contains(err.Error(), "serve it with the build that made it") || strings.Contains(err.Error(), "\n") {
				t.Errorf("Migrate of a database of another history, %s: error %v, want one line of ErrHistory that says what to do", name, err)
			}
		}
	})
}

// What the operator adds, and tables of a later program, are none of the program's business.
func TestDatabaseWithFurtherTablesIsOfThisHistory(t *testing.T) {
	onCopies(t, func(t *testing.T, migrateAfter func(...string) error) {
		further := []string{"CREATE TABLE report (day TEXT)", "CREATE INDEX report_day ON report (day)", "CREATE INDEX operator_seen ON message (seen)"}
		if err := migrateAfter(further...); err != nil {
			t.Errorf("Migrate of a database with %q: %v, want no error", further, err)
		}
	})
}

func TestDatabaseOfANewerProgramIsRefused(t *testing.T) {
	onCopies(t, func(t *testing.T, migrateAfter func(...string) error) {
		newer := []string{
			"INSERT INTO goose_db_version (version_id, is_applied, tstamp) VALUES (90001, '1', CURRENT_TIMESTAMP)",
			"INSERT INTO migration_digest (version, digest) VALUES (90001, 'of a newer program')",
		}
		if err := migrateAfter(newer...); err == nil || !strings.Contains(err.Error(), "run a newer gonebox") {
			t.Errorf("Migrate of a database of a newer program: error %v, want one that asks for a newer program", err)
		}
	})
}
