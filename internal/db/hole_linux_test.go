package db

import (
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestIndexOfTheLogHasItsBlocks looks for holes in the index, whose pages SQLite writes through a mapping.
func TestIndexOfTheLogHasItsBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	d, err := Open(t.Context(), path, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	info, err := os.Stat(path + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	const want = 5 * 32 << 10
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Blocks*512 < want {
		t.Errorf("the index takes %d octets of the disk, want at least %d", stat.Blocks*512, want)
	}
}
