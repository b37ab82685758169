package db

import (
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
)

// A migration is its text for both engines followed by the one for this engine. A version that has only a text for the other engine does
// nothing.
func TestMigrationsAreOneTextWithAdditionsByEngine(t *testing.T) {
	files := fstest.MapFS{
		"migrations/90001_tables.sql":           {Data: []byte("CREATE TABLE a (data BLOB); -- a blob\n")},
		"migrations/90001_tables.sqlite.sql":    {Data: []byte("INSERT INTO a VALUES (x'01');")},
		"migrations/90002_storage.postgres.sql": {Data: []byte("ALTER TABLE a ALTER COLUMN data SET STORAGE EXTERNAL;")},
	}
	d := openPlain(t, t.TempDir()+"/test.db")
	defer d.Close()
	pool, err := d.migrations()
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	all, err := migrationsOf(SQLite, files)
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, pool, nil, goose.WithGoMigrations(all...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n, version int
	if err := d.QueryRow(t.Context(), "SELECT count(*), (SELECT max(version_id) FROM goose_db_version) FROM a").Scan(&n, &version); err != nil || n != 1 || version != 90002 {
		t.Errorf("%d rows, schema version %d (%v)", n, version, err)
	}
	if _, _, err := d.Migrate(t.Context()); err == nil {
		t.Error("a database of a newer version was migrated")
	}
}
