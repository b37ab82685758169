package db

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func openPlain(t *testing.T, path string) *DB {
	t.Helper()
	d, err := Open(t.Context(), path, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func exec(t *testing.T, d *DB, times int, query string, args ...any) {
	t.Helper()
	err := d.Update(t.Context(), func(ctx context.Context, tx *Tx) error {
		for range times {
			if _, err := tx.Exec(ctx, query, args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The log is written back before a commit has to do it, while updates continue, and no row is lost.
func TestLogIsWrittenBackWhileTheWriterContinues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	d := openPlain(t, path)
	exec(t, d, 1, "CREATE TABLE page (data BLOB NOT NULL)")
	before, rows := size(t, path), 0
	const set = 100 // rows of about a page each
	for ; rows < checkpointFrom; rows += set {
		exec(t, d, set, "INSERT INTO page (data) VALUES ($1)", make([]byte, 4000))
	}
	for range 10_000 {
		if size(t, path) > before+checkpointFrom*4000/2 {
			break
		}
		time.Sleep(time.Millisecond)
		d.store.(*writer).checkpointer.startIfDue() // as the next commit would
	}
	if got := size(t, path); got <= before+checkpointFrom*4000/2 {
		t.Errorf("the file grew from %d to %d octets, want the log written back to it while the writer continues", before, got)
	}
	exec(t, d, set, "INSERT INTO page (data) VALUES ($1)", make([]byte, 4000))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = openPlain(t, path)
	defer d.Close()
	var n int
	var sound string
	if err := d.QueryRow(t.Context(), "SELECT count(*) FROM page").Scan(&n); err != nil || n != rows+set {
		t.Errorf("the table has %d rows, %v, want %d", n, err, rows+set)
	}
	if err := d.QueryRow(t.Context(), "PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf(`integrity_check: %s, %v, want "ok"`, sound, err)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// unwritten returns the same number as SQLite itself.
func TestUnwrittenPagesAreCountedAsSQLiteDoes(t *testing.T) {
	d := openPlain(t, filepath.Join(t.TempDir(), "test.db"))
	defer d.Close()
	exec(t, d, 1, "CREATE TABLE page (data BLOB NOT NULL)")
	exec(t, d, 50, "INSERT INTO page (data) VALUES ($1)", make([]byte, 4000))
	checkpointer := d.store.(*writer).checkpointer
	unwritten := func() uint32 {
		s, err := readState(checkpointer.index)
		if err != nil {
			t.Fatal(err)
		}
		return s.unwritten()
	}
	counted := unwritten()
	var busy, log, written uint32
	if err := checkpointer.pool.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &log, &written); err != nil {
		t.Fatal(err)
	}
	if counted == 0 || counted != log || unwritten() != log-written {
		t.Errorf("counted %d unwritten pages before and %d after; SQLite says that of %d it wrote %d, want the same", counted, unwritten(), log, written)
	}
}
