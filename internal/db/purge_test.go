package db

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// marker returns a text that occurs nowhere else and does not compress.
func marker() []byte {
	var random [32]byte
	rand.Read(random[:]) // never fails, as crypto/rand documents
	return []byte(hex.EncodeToString(random[:]))
}

// wantGone checks that no file of a folder contains a text.
func wantGone(t *testing.T, dir string, text []byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if n := bytes.Count(content, text); n > 0 {
			t.Errorf("%s holds the deleted text %d times, want 0", filepath.Base(path), n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// keep stores a text, repeated, as a row of one page or of several.
func keep(t *testing.T, d *DB, id int, text []byte, times int) {
	t.Helper()
	exec(t, d, 1, "INSERT INTO page (id, data) VALUES ($1, $2)", id, bytes.Repeat(text, times))
}

func TestPurgeRemovesDeletedDataFromAllFiles(t *testing.T) {
	dir := t.TempDir()
	d := openPlain(t, filepath.Join(dir, "test.db"))
	defer d.Close()
	exec(t, d, 1, "CREATE TABLE page (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
	text, stays := marker(), marker()
	keep(t, d, 1, text, 1)
	keep(t, d, 2, stays, 1)
	keep(t, d, 3, text, 1000) // on pages of its own
	if err := d.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec(t, d, 1, "DELETE FROM page WHERE id <> 2")
	if err := d.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantGone(t, dir, text)
	var got []byte
	if err := d.QueryRow(t.Context(), "SELECT data FROM page WHERE id = 2").Scan(&got); err != nil || !bytes.Equal(got, stays) {
		t.Errorf("the row beside the deleted one contains %q, %v, want %q", got, err, stays)
	}
}

// A purge cannot remove pages of the log that a reader still needs; the next purge removes them.
func TestPurgeLeavesWhatAReaderNeeds(t *testing.T) {
	dir := t.TempDir()
	d := openPlain(t, filepath.Join(dir, "test.db"))
	defer d.Close()
	exec(t, d, 1, "CREATE TABLE page (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
	text := marker()
	keep(t, d, 1, text, 1)
	keep(t, d, 2, text, 1)
	rows, err := d.Query(t.Context(), "SELECT data FROM page ORDER BY id")
	if err != nil || !rows.Next() {
		t.Fatalf("Query = %v, %v, want the first of two rows", rows, err)
	}
	exec(t, d, 1, "DELETE FROM page")
	if err := d.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []byte
	if !rows.Next() || rows.Scan(&got) != nil || !bytes.Equal(got, text) {
		t.Errorf("the open reader got %q, want %q as before the purge", got, text)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	if err := d.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantGone(t, dir, text)
}

func TestPurgeAfterCloseFails(t *testing.T) {
	d := openPlain(t, filepath.Join(t.TempDir(), "test.db"))
	exec(t, d, 1, "CREATE TABLE page (data BLOB NOT NULL)")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Purge(context.Background()); err == nil {
		t.Error("Purge of a closed database returned no error, want one")
	}
}
