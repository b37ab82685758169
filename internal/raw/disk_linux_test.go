package raw

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// If the disk refuses direct I/O, the segment is written through the page cache from then on, and no data is lost.
func TestWritingContinuesWithoutDirectIO(t *testing.T) {
	dir := t.TempDir()
	file, err := osFolder{dir}.create("x")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !file.(*osFile).direct {
		t.Skip("the file system of the folder does not support direct I/O")
	}
	var want []byte
	for _, piece := range [][]byte{bytes.Repeat([]byte("a"), 8192), []byte("no block"), bytes.Repeat([]byte("b"), 4096)} {
		blocks := append(alignedBuffer(int64(len(piece))), piece...)
		if n, err := file.Write(blocks); err != nil || n != len(piece) {
			t.Fatalf("Write = %d, %v, want %v", n, err, len(piece))
		}
		want = append(want, piece...)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "x")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file has %d octets, %v, want the %d that were written", len(got), err, len(want))
	}
	flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, file.(*osFile).Fd(), syscall.F_GETFL, 0)
	if file.(*osFile).direct || flags&syscall.O_DIRECT != 0 {
		t.Errorf("the file is written with direct I/O: %t, its flags are %#o; want neither", file.(*osFile).direct, flags)
	}
}
