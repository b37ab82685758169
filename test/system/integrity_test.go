package system_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // looks into the database behind the service's back
)

// integrity has SQLite check a copy of a stopped service's database, as the crash or the shutdown left it.
func integrity(t *testing.T, dir string) {
	t.Helper()
	scratch := t.TempDir()
	files, err := filepath.Glob(filepath.Join(dir, "gonebox.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the database in %s: %v, want its files", dir, err)
	}
	for _, file := range files {
		if filepath.Ext(file) == ".db-shm" {
			continue // an index of the log, made anew
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(scratch, filepath.Base(file)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(scratch, "gonebox.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		checkPragma(t, db, pragma)
	}
	checkReferences(t, db)
}

// checkReferences compares the reference count of each blob with the rows that refer to it.
func checkReferences(t *testing.T, db *sql.DB) {
	t.Helper()
	var blobs, orphans, wrong int
	err := db.QueryRowContext(t.Context(), `SELECT count(*),
		(SELECT count(*) FROM blob_chunk WHERE hash NOT IN (SELECT hash FROM blob)),
		(SELECT count(*) FROM blob AS b WHERE refs <> (SELECT count(*) FROM message WHERE blob = b.hash)
			+ (SELECT count(*) FROM attachment WHERE blob = b.hash) + (SELECT count(*) FROM blob_stage WHERE hash = b.hash)) FROM blob`).
		Scan(&blobs, &orphans, &wrong)
	if err != nil || orphans > 0 || wrong > 0 {
		t.Errorf("of %d blobs %d have a wrong reference count, and %d chunks belong to none, %v, want 0 and 0", blobs, wrong, orphans, err)
	}
}

func checkPragma(t *testing.T, db *sql.DB, pragma string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "PRAGMA "+pragma)
	if err != nil {
		t.Fatalf(`%s: db.QueryContext("PRAGMA "+pragma): %v`, pragma, err)
	}
	defer rows.Close()
	for rows.Next() {
		var said, ignored any
		if columns, _ := rows.Columns(); len(columns) == 1 {
			err = rows.Scan(&said)
		} else {
			err = rows.Scan(&said, &ignored, &ignored, &ignored)
		}
		if err != nil || said != "ok" {
			t.Errorf(`PRAGMA %s says %v, %v, want "ok"`, pragma, said, err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Errorf("read the rows of %s: %v", pragma, err)
	}
}
