package db

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// churn inserts and deletes rows of all sizes in no order, so that pages are split and merged.
type churn struct {
	dice    *rand.Rand
	live    map[int64][]byte
	keys    []int64                // of live
	deleted map[[ownSize]byte]bool // the identifiers of deleted rows
}

// ownSize is the length of the identifier of a row, in octets.
const ownSize = 16

func newChurn() *churn {
	return &churn{dice: rand.New(rand.NewPCG(1, 2)), live: make(map[int64][]byte), deleted: make(map[[ownSize]byte]bool)}
}

// text returns a text of at most 5 KB, usually less than 1 KB, that repeats a unique identifier.
func (c *churn) text() []byte {
	own := hex.AppendEncode(nil, binary.BigEndian.AppendUint64(nil, c.dice.Uint64()))
	return bytes.Repeat(own, 2+c.dice.IntN([]int{5, 60, 60, 300}[c.dice.IntN(4)]))
}

// step inserts a row, or deletes one if there are many.
func (c *churn) step(run func(query string, args ...any) error) error {
	key, text := c.dice.Int64(), c.text()
	c.live[key] = text
	c.keys = append(c.keys, key)
	if err := run("INSERT INTO page (id, data) VALUES ($1, $2)", key, text); err != nil || len(c.live) < 400 {
		return err
	}
	at := c.dice.IntN(len(c.keys))
	victim := c.keys[at]
	c.keys[at] = c.keys[len(c.keys)-1]
	c.keys = c.keys[:len(c.keys)-1]
	c.deleted[[ownSize]byte(c.live[victim])] = true
	delete(c.live, victim)
	return run("DELETE FROM page WHERE id = $1", victim)
}

// steps runs many steps, several in each update.
func (c *churn) steps(t *testing.T, d *DB, updates int) {
	t.Helper()
	for range updates {
		err := d.Update(t.Context(), func(ctx context.Context, tx *Tx) error {
			for range 20 {
				err := c.step(func(query string, args ...any) error {
					_, err := tx.Exec(ctx, query, args...)
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// left counts the deleted rows of which a file still contains data.
func (c *churn) left(t *testing.T, path string) int {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	left := make(map[[ownSize]byte]bool)
	for ; len(content) >= ownSize; content = content[1:] {
		if own := [ownSize]byte(content); c.deleted[own] {
			left[own] = true
		}
	}
	return len(left)
}

// wantSound checks that exactly the rows that were not deleted exist, and that the file passes the integrity check.
func (c *churn) wantSound(t *testing.T, d *DB) {
	t.Helper()
	var rows int
	var sound string
	if err := d.QueryRow(t.Context(), "SELECT count(*) FROM page").Scan(&rows); err != nil || rows != len(c.live) {
		t.Errorf("the table has %d rows, %v, want %d", rows, err, len(c.live))
	}
	for key, text := range c.live {
		var got []byte
		if err := d.QueryRow(t.Context(), "SELECT data FROM page WHERE id = $1", key).Scan(&got); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("row %d has %d octets, %v, want the %d that were stored", key, len(got), err, len(text))
		}
	}
	if err := d.QueryRow(t.Context(), "PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf(`integrity_check: %s, %v, want "ok"`, sound, err)
	}
}

const newPage = "CREATE TABLE page (id INTEGER PRIMARY KEY, data BLOB NOT NULL)"

// openPages opens a new database with a table of pages.
func openPages(t *testing.T) (d *DB, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "test.db")
	d, err := Open(t.Context(), path, Options{Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	exec(t, d, 1, newPage)
	return d, path
}

// wantPurged checks that the database and its log contain no data of deleted rows.
func (c *churn) wantPurged(t *testing.T, path string) {
	t.Helper()
	if n := c.left(t, path) + c.left(t, path+"-wal"); n > 0 {
		t.Errorf("remains of %d of %d deleted rows, want 0", n, len(c.deleted))
	}
}

// SQLite leaves copies of rows when it moves them between pages. Purge removes the copies of deleted rows.
func TestPurgeRemovesCopiesOfDeletedRows(t *testing.T) {
	d, path := openPages(t)
	c := newChurn()
	checkpointer := d.store.(*writer).checkpointer
	found := 0
	for range 4 {
		c.steps(t, d, 60) // some start the log anew
		if err := checkpointer.findResidue(t.Context()); err != nil {
			t.Fatal(err)
		}
		found += len(checkpointer.residue.pages)
		if err := d.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.wantPurged(t, path)
	}
	if found == 0 {
		t.Error("no page had residue before the purge, want some, since the test proves nothing otherwise")
	}
	c.wantSound(t, d)
}

// The first purge examines the whole file, since an earlier process may have been killed before it could purge.
func TestFirstPurgeExaminesTheWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	pool, err := sql.Open("sqlite", dsn(path, writerPragmas+"&_pragma=synchronous(off)"))
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	run := func(query string, args ...any) error {
		_, err := pool.ExecContext(t.Context(), query, args...)
		return err
	}
	if err := run(newPage); err != nil {
		t.Fatal(err)
	}
	c := newChurn()
	for range 5000 {
		if err := c.step(run); err != nil {
			t.Fatal(err)
		}
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	if c.left(t, path) == 0 {
		t.Fatal("no page has residue before the purge, want some, since the test proves nothing otherwise")
	}
	d := openPlain(t, path)
	defer d.Close()
	if err := d.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.wantPurged(t, path)
	c.wantSound(t, d)
}

// Frames that were overwritten before they were examined make the next purge examine the whole file.
func TestLostFramesMakePurgeExamineTheWholeFile(t *testing.T) {
	d := openPlain(t, filepath.Join(t.TempDir(), "test.db"))
	defer d.Close()
	exec(t, d, 1, newPage)
	if err := d.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkpointer := d.store.(*writer).checkpointer
	insert := func(id int) {
		exec(t, d, 1, "INSERT INTO page (id, data) VALUES ($1, x'00')", id)
		if err := d.Ready(t.Context()); err != nil { // the writer has examined the log
			t.Fatal(err)
		}
	}
	insert(1)
	if checkpointer.residue.needed() {
		t.Fatal("the next purge would examine the whole file, want that only after frames were lost")
	}
	if err := checkpointer.checkpoint(); err != nil { // as another process would
		t.Fatal(err)
	}
	insert(2)
	if !checkpointer.residue.needed() {
		t.Error("frames were lost and the next purge would not examine the whole file, want it to")
	}
}

func TestPurgeRunsConcurrentlyWithUpdates(t *testing.T) {
	d, path := openPages(t)
	ctx, cancel := context.WithCancel(t.Context())
	purged := make(chan error)
	go func() {
		var failed error
		for ctx.Err() == nil && failed == nil {
			failed = d.Purge(context.WithoutCancel(ctx))
		}
		purged <- failed
	}()
	c := newChurn()
	c.steps(t, d, 100)
	cancel()
	if err := <-purged; err != nil {
		t.Fatal(err)
	}
	if err := d.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.wantPurged(t, path)
	c.wantSound(t, d)
}

// Only B-tree pages are cleared.
func TestOnlyBTreePagesHaveFreeSpace(t *testing.T) {
	leaf := func(change func(page []byte)) []byte {
		page := bytes.Repeat([]byte{0xee}, pageSize)
		copy(page, []byte{leafTable, 0, 0, 0, 2, 0x0f, 0x00, 0, 0x0f, 0x80, 0x0f, 0x00})
		change(page)
		return page
	}
	for name, c := range map[string]struct {
		page []byte
		want int
	}{
		"leaf of a table":               {leaf(func([]byte) {}), 0x0f00 - 12},
		"leaf of an index":              {leaf(func(p []byte) { p[0] = leafIndex }), 0x0f00 - 12},
		"overflow":                      {leaf(func(p []byte) { p[0] = 0 }), 0},
		"a cell before the first":       {leaf(func(p []byte) { p[8] = 0x0e }), 0},
		"a cell behind the page":        {leaf(func(p []byte) { p[8] = 0x10 }), 0},
		"a free block before the first": {leaf(func(p []byte) { p[1] = 0x0e }), 0},
		"pointers over cells":           {leaf(func(p []byte) { p[3] = 0x20 }), 0},
		"another size":                  {leaf(func([]byte) {})[:1024], 0},
	} {
		if got := len(freeSpace(2, c.page)); got != c.want {
			t.Errorf("%s: %d octets are free, want %d", name, got, c.want)
		}
	}
	if pointers := append([]byte{leafTable, 0, 0, 0, 0, 0x0f, 0, 0, 0x0f, 0x80}, make([]byte, pageSize-10)...); hasResidue(2, pointers) {
		t.Errorf("hasResidue of a page that begins with % x is true, want false: it has cell pointers alone", pointers[:12])
	}
}
