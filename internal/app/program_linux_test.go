package app_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app"
)

func TestOnlyUnchangedPagesOfTheProgramAreUnmapped(t *testing.T) {
	const maps = `00400000-014f2000 r-xp 00000000 fe:00 1050521    /opt/disposable mail/gonebox
014f2000-027d9000 r--p 010f2000 fe:00 1050521    /opt/disposable mail/gonebox (deleted)
027d9000-02933000 rw-p 023d9000 fe:00 1050521    /opt/disposable mail/gonebox
02933000-04982000 rw-p 00000000 00:00 0
7f0000000000-7f0000001000 r--s 00000000 fe:00 1050521    /opt/disposable mail/gonebox
7f0000002000-7f0000003000 r-xp 00000000 fe:00 77         /opt/disposable mail/gonebox2
7f0000004000-7f0000005000 r--p 00000000 fe:00 78         /opt/gonebox
7f0000006000-7f0000005000 r--p 00000000 fe:00 1050521    /opt/disposable mail/gonebox
zz-7f0000005000 r--p 00000000 fe:00 1050521    /opt/disposable mail/gonebox
7ffcfbe70000-7ffcfbe91000 rw-p 00000000 00:00 0          [stack]
`
	want := [][2]uintptr{{0x400000, 0x14f2000}, {0x14f2000, 0x27d9000}}
	if got := app.ProgramMappings(maps, "/opt/disposable mail/gonebox"); !slices.Equal(got, want) {
		t.Errorf("programMappings = %x, want %x", got, want)
	}
}

// The test program goes on running after its own pages were unmapped.
func TestUnmappedProgramTakesLessMemory(t *testing.T) {
	before := residentOfFiles(t)
	if err := app.UnmapProgram(); err != nil {
		t.Fatalf("unmapProgram: %v", err)
	}
	if after := residentOfFiles(t); after >= before {
		t.Errorf("%d KiB of files are resident after UnmapProgram, want less than the %d before", after, before)
	}
}

// residentOfFiles returns how much of this process's resident memory is that of files, in KiB.
func residentOfFiles(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("/proc/self/status has no RssFile: %v", err)
	}
	return kib
}
