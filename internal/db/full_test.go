package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	sqlite3 "modernc.org/sqlite/lib"
)

// disk is a Space whose state the test sets.
type disk struct {
	full     bool
	reserve  int
	released int
}

func (d *disk) Full() bool     { return d.full }
func (d *disk) Reserve() int64 { return 32 << 20 }
func (d *disk) Release() bool {
	d.released++
	d.reserve--
	return d.reserve >= 0
}

func openOn(t *testing.T, space Space, commit func(func() error) error) *DB {
	t.Helper()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), Options{Space: space, Commit: commit, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func insert(ctx context.Context, d *DB) error {
	return d.Update(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO page (data) VALUES ($1)", []byte("x"))
		return err
	})
}

func TestOnAFullDiskOnlyFreeingUpdatesRun(t *testing.T) {
	space := &disk{}
	d := openOn(t, space, nil)
	exec(t, d, 1, "CREATE TABLE page (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
	space.full = true
	if err := insert(t.Context(), d); !errors.Is(err, ErrFull) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("Update = %v, want the error %v and the error %v", err, ErrFull, ErrUnavailable)
	}
	if err := d.Ready(t.Context()); !errors.Is(err, ErrFull) {
		t.Errorf("Ready = %v, want the error %v", err, ErrFull)
	}
	if err := insert(Freeing(t.Context()), d); err != nil {
		t.Errorf("Update that frees = %v", err)
	}
	space.full = false
	if err := errors.Join(insert(t.Context(), d), d.Ready(t.Context())); err != nil {
		t.Error(err)
	}
}

// TestOpenTriesAgainAfterAnErrorOfTheDisk lets the first access to the index of the log fail as it does when its page has no block on a full
// disk.
func TestOpenTriesAgainAfterAnErrorOfTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		space := &disk{reserve: 1}
		sqlite3.SehInject(1)
		defer sqlite3.SehInject(0)
		d, err := Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), Options{Space: space, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatalf("Open on a disk that is full for a moment = %v, want no error", err)
		}
		defer d.Close()
		if left := sqlite3.SehPending(); left != 0 || space.released != 1 {
			t.Errorf("the error was not reached (%d left) or the reserve released %d times, want 0 and 1", left, space.released)
		}
		exec(t, d, 1, "CREATE TABLE page (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
	})
}

func TestFreeingUpdatesUseTheReserve(t *testing.T) {
	for _, c := range []struct {
		failures, reserve int // number of commits that fail because of a full disk, and of reserves that can be released
		frees             bool
		released          int
		want              error
	}{
		{1, 1, true, 0, nil}, {2, 1, true, 1, nil}, {3, 1, true, 1, ErrFull}, {2, 0, true, 1, nil}, {1, 1, false, 0, ErrFull},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			space, failures := &disk{reserve: c.reserve}, 0
			d := openOn(t, space, func(commit func() error) error {
				if failures > 0 {
					failures--
					return ErrFull
				}
				return commit()
			})
			exec(t, d, 1, "CREATE TABLE page (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
			ctx, runs := t.Context(), 0
			if c.frees {
				ctx = Freeing(ctx)
			}
			failures = c.failures
			done := 0
			err := d.Update(ctx, func(ctx context.Context, tx *Tx) error {
				if runs++; tx.Again() != (runs > 1) {
					t.Errorf("run %d: Again() = %t, want true from the second run on", runs, tx.Again())
				}
				tx.AfterCommit(func() { done++ })
				_, err := tx.Exec(ctx, "INSERT INTO page (data) VALUES ($1)", []byte("x"))
				return err
			})
			var rows int
			if err := d.QueryRow(t.Context(), "SELECT count(*) FROM page").Scan(&rows); err != nil {
				t.Fatal(err)
			}
			if !errors.Is(err, c.want) || space.released != c.released || rows != done || (rows == 1) != (c.want == nil) {
				t.Errorf("Update = %v, the reserve was released %d times, %d rows, %d calls after the commit; want %v, %d times, and a row and a call for each success", err, space.released, rows, done, c.want, c.released)
			}
		})
	}
}

func TestShrinkFreesTheSpaceOfFreePages(t *testing.T) {
	d := openOn(t, nil, nil)
	exec(t, d, 1, "CREATE TABLE page (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
	text, stays := marker(), marker()
	for id := range 20 {
		keep(t, d, 2*id, text, 3000)
		keep(t, d, 2*id+1, stays, 3000)
	}
	path := ""
	if err := d.QueryRow(t.Context(), "SELECT file FROM pragma_database_list").Scan(&path); err != nil {
		t.Fatal(err)
	}
	taken := func() int64 {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	purge := func() {
		t.Helper()
		if err := errors.Join(d.Purge(t.Context()), d.Shrink(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	purge()
	before := taken()
	exec(t, d, 20, "DELETE FROM page WHERE id % 2 = 0")
	if err := d.Shrink(t.Context()); err != nil { // it does nothing unless the log is empty
		t.Fatal(err)
	}
	purge()
	const deleted = 20 * 3000 * 64
	if after := taken(); before-after < deleted*9/10 {
		t.Errorf("the file takes %d octets after the purge and %d before, want at least %d less", after, before, deleted*9/10)
	}
	for id := range 20 {
		var data []byte
		if err := d.QueryRow(t.Context(), "SELECT data FROM page WHERE id = $1", 2*id+1).Scan(&data); err != nil || !bytes.Equal(data, bytes.Repeat(stays, 3000)) {
			t.Fatalf("row %d: %d octets, %v, want the %d octets that were stored", id, len(data), err, len(bytes.Repeat(stays, 3000)))
		}
	}
	for id := range 20 {
		keep(t, d, 100+id, stays, 3000)
	}
	purge()
	var sound string
	if err := d.QueryRow(t.Context(), "PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("PRAGMA integrity_check = %q, %v, want ok", sound, err)
	}
	if after := taken(); after > before+1<<20 {
		t.Errorf("the file takes %d octets with as many rows as before, when it took %d, want at most %v", after, before, before+1<<20)
	}
}
