package db

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
)

// A migration is its text for both engines followed by the one for this engine. A version that has only a text for the other engine does
// nothing.
func TestMigrationsAreOneTextWithAdditionsByEngine(t *testing.T) {
	files := fstest.MapFS{
		"migrations/00001_tables.sql":           {Data: []byte("CREATE TABLE a (data BLOB); -- a blob\nCREATE TABLE migration_digest (version BIGINT, digest TEXT);\n")},
		"migrations/00001_tables.sqlite.sql":    {Data: []byte("INSERT INTO a VALUES (x'01');")},
		"migrations/00002_storage.postgres.sql": {Data: []byte("ALTER TABLE a ALTER COLUMN data SET STORAGE EXTERNAL;")},
	}
	d := openPlain(t, t.TempDir()+"/test.db")
	defer d.Close()
	pool, err := d.migrations()
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	texts, err := migrationTexts(SQLite, files)
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, pool, nil, goose.WithGoMigrations(migrationsOf(texts)...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n, version int
	if err := d.QueryRow(t.Context(), "SELECT count(*), (SELECT max(version_id) FROM goose_db_version) FROM a").Scan(&n, &version); err != nil || n != 1 || version != 2 {
		t.Errorf("%d rows, schema version %d (%v), want 1 and 2", n, version, err)
	}
}

// A comment may be corrected after a migration was released; a statement may not.
func TestDigestIsThatOfTheStatements(t *testing.T) {
	const text = "-- Pages.\nCREATE TABLE page (\n    key TEXT NOT NULL -- the name\n);\n"
	for same, reworded := range map[string]string{
		"another comment": "-- The pages.\nCREATE TABLE page (\n    key TEXT NOT NULL -- its name\n);\n",
		"other spaces":    "CREATE TABLE page (\n  key  TEXT NOT NULL\n);",
	} {
		if digest(reworded) != digest(text) {
			t.Errorf("the digest with %s differs, want the same as that of\n%s", same, text)
		}
	}
	if other := strings.Replace(text, "TEXT", "BLOB", 1); digest(other) == digest(text) {
		t.Errorf("digest(%q) is that of %q, want another one", other, text)
	}
}
