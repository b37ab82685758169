package reserve_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gonebox/gonebox/internal/reserve"
)

func open(t *testing.T, dir string, size int64) *reserve.Reserve {
	t.Helper()
	r, err := reserve.Open(dir, size, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantHeld checks how much of the disk the reserve takes.
func wantHeld(t *testing.T, dir string, want int64) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "reserve"))
	if want == 0 && os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if taken := info.Sys().(*syscall.Stat_t).Blocks * 512; info.Size() != want || taken < want {
		t.Errorf("the reserve has %d octets and takes %d, want %d", info.Size(), taken, want)
	}
}

func TestAReserveIsReleasedAndMadeAgain(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, 1<<20)
	wantHeld(t, dir, 1<<20)
	if r.Full() {
		t.Fatal("Full() = true at first, want false: the test needs some free space")
	}
	if !r.Release() || r.Release() {
		t.Error("Release did not return true the first time and false the second, want a reserve released once")
	}
	wantHeld(t, dir, 0)
	if !r.Full() {
		t.Error("Full() = false without a reserve, want true")
	}
	for range 2 {
		if err := r.Restore(); err != nil {
			t.Fatal(err)
		}
		wantHeld(t, dir, 1<<20)
	}
	if r.Full() {
		t.Error("Full() = true with a reserve, want false")
	}
	open(t, dir, 1<<20)
	wantHeld(t, dir, 1<<20)
}

func TestAReserveOfAnotherSize(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, 1<<20)
	r := open(t, dir, 2<<20)
	wantHeld(t, dir, 2<<20)
	if r.Reserve() != 2<<20 {
		t.Errorf("Reserve() = %d, want %d", r.Reserve(), 2<<20)
	}
	r = open(t, dir, 1<<20)
	if err := r.Restore(); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, dir, 1<<20)
	if r := open(t, t.TempDir(), 0); r.Full() || r.Release() {
		t.Error("with a reserve of 0: Full or Release is true, want both false")
	}
}

func TestAReserveOnASmallDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a file system takes root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	r := open(t, dir, 1<<30)
	wantHeld(t, dir, 1<<20) // an eighth
	filler := filepath.Join(dir, "filler")
	write := func(size int) {
		t.Helper()
		if err := os.WriteFile(filler, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(6 << 20)
	if r.Full() {
		t.Error("Full() = true with a megabyte free, want false")
	}
	write(6<<20 + 700<<10)
	if !r.Full() {
		t.Error("Full() = false with less than half of the reserve free, want true")
	}
	r.Release()
	write(7<<20 + 512<<10)
	if err := r.Restore(); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, dir, 512<<10) // what there is
	if !r.Full() {
		t.Error("Full() = false with half a reserve, want true")
	}
	if open(t, dir, 1<<30); !r.Release() {
		t.Error("Release() = false, want true as the reserve has what there is")
	}
	write(0)
	if err := r.Restore(); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, dir, 1<<20)
	if r.Full() {
		t.Error("Full() = true with space again, want false")
	}
}
