package db

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// newest selects a page of a mailbox.
const newest = "SELECT id, summary FROM message WHERE mailbox_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"

func TestStableLimits(t *testing.T) {
	want := "SELECT id, summary FROM message WHERE mailbox_id = $1 AND id < $2 ORDER BY id DESC LIMIT +$3"
	if got := stableLimits(newest); got != want {
		t.Errorf("stableLimits of the newest page =\n%s\nwant\n%s", got, want)
	}
}

// BenchmarkLimit reads 20 short rows with a plain statement and with stableLimits. It takes 41 µs and 23 µs.
func BenchmarkLimit(b *testing.B) {
	pool, err := sql.Open("sqlite", dsn(filepath.Join(b.TempDir(), "test.db"), pragmas))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { pool.Close() })
	if _, err := pool.Exec("CREATE TABLE message (mailbox_id TEXT, id TEXT, summary TEXT, PRIMARY KEY (mailbox_id, id))"); err != nil {
		b.Fatal(err)
	}
	for i := range 30 {
		if _, err := pool.Exec("INSERT INTO message VALUES ('mbx', $1, 'summary')", i); err != nil {
			b.Fatal(err)
		}
	}
	for name, query := range map[string]string{"bound": newest, "stable": stableLimits(newest)} {
		b.Run(name, func(b *testing.B) {
			statement, err := pool.Prepare(query)
			if err != nil {
				b.Fatal(err)
			}
			defer statement.Close()
			for b.Loop() {
				rows, err := statement.Query("mbx", "~", 20)
				if err != nil {
					b.Fatal(err)
				}
				for rows.Next() {
				}
				if err := errors.Join(rows.Err(), rows.Close()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The files of the database are for their owner alone, whatever the umask, the folder, and the modes that the files have.
func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "test.db")
	for start, left := range []string{"", path, path} { // the file that is found with another mode
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if left == "" {
				break
			}
			if err := os.Chmod(left+suffix, 0o664); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		d := openPlain(t, path)
		if _, _, err := d.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(path + "*")
		if err != nil || len(files) < 3 {
			t.Errorf("start %d: the files are %v (%v), want the database, its log and its index", start, files, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("start %d: %s has mode %v (%v), want 0600", start, filepath.Base(file), info.Mode(), err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
