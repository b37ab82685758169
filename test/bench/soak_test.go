package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The log is not part of what must not grow: its size only says how long ago it was truncated.
func TestDiskUseKeepsLogsApart(t *testing.T) {
	dir := t.TempDir()
	for name, octets := range map[string]int{"gonebox.db": 8 << 10, "raw/1": 16 << 10, "gonebox.db-wal": 64 << 10, "pg/pg_wal/0001": 128 << 10} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(make([]byte, octets)); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil { // blocks are allocated late
			t.Fatal(err)
		}
		f.Close()
	}
	disk, logs, err := diskUse(dir)
	if err != nil {
		t.Fatal(err)
	}
	// A folder takes up to a few blocks, which are part of the first.
	if logs != 192<<10 || disk < 24<<10 || disk > 24<<10+4*16<<10 {
		t.Errorf("%d octets of logs, want %d; %d besides", logs, 192<<10, disk)
	}
}
