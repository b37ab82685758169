package raw_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/raw"
)

// Large records, which are written in parts, can be read like others: alone and among small ones, from the open segment, from a closed
// segment and after a crash.
func TestLargeRecordsCanBeRead(t *testing.T) {
	const mib = 1 << 20
	for _, sizes := range [][]int{
		{mib},
		{mib - 2},
		{mib - 1},
		{2*mib - raw.HeaderSize - 1},
		{2*mib - raw.HeaderSize},
		{5*mib + 123},
		{10, 3 * mib, 4000, 2*mib + 1, 70_000},
	} {
		dir := t.TempDir()
		s := open(t, dir, clock.NewFake(start))
		var bodies [][]byte
		for _, size := range sizes {
			bodies = append(bodies, randomBytes(size))
		}
		refs := keep(t, s, start, records(free, bodies...))
		refs = append(refs, keep(t, s, start, records(free, text(50)))...)
		refs = append(refs, keep(t, s, start, records(free, bodies...))...)
		bodies = append(append(bodies, text(50)), bodies...)

		crashed := t.TempDir()
		for _, file := range files(t, dir) {
			content, err := os.ReadFile(file) // before Close
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(crashed, filepath.Base(file)), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, reader := range []*raw.Segments{s, reopened(t, s, dir), open(t, crashed, clock.NewFake(start))} {
			for i, ref := range refs {
				wantBody(t, reader, ref, bodies[i])
			}
		}
	}
}

func TestALargeRecordThatCouldNotBeWrittenIsGone(t *testing.T) {
	f := &raw.Faults{}
	s, dir := openFaulty(t, f)
	before, synced := mustAppend(t, s, text(2000))
	if err := synced.Wait(); err != nil {
		t.Fatal(err)
	}
	writes := 0
	f.Write = func(b []byte) (int, error) {
		if writes++; writes == 3 {
			return 100, syscall.ENOSPC
		}
		return len(b), nil
	}
	lost, synced := mustAppend(t, s, randomBytes(5<<20))
	if err := synced.Wait(); err == nil {
		t.Fatal("Wait returned nil after a failed write")
	}
	f.Write = nil
	body := randomBytes(3 << 20)
	after, synced := mustAppend(t, s, body)
	if err := synced.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, reader := range []*raw.Segments{s, reopened(t, s, dir)} {
		wantBody(t, reader, before, text(2000))
		wantGone(t, reader, lost, raw.ErrGone)
		wantBody(t, reader, after, body)
	}
}
