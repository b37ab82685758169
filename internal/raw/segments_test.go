package raw_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/raw"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	free = 15 * time.Minute
	paid = time.Hour
)

var start = time.Date(2026, 1, 31, 12, 5, 0, 0, time.UTC)

func open(t testing.TB, dir string, c clock.Clock) *raw.Segments {
	t.Helper()
	s, err := raw.Open(dir, c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// records compresses bodies for one class.
func records(class time.Duration, bodies ...[]byte) []raw.Record {
	var rs []raw.Record
	for _, b := range bodies {
		rs = append(rs, raw.Seal(class, raw.Compress(nil, b)))
	}
	return rs
}

func keep(t testing.TB, s *raw.Segments, at time.Time, rs []raw.Record) []raw.Ref {
	t.Helper()
	refs, synced, err := s.Append(at, rs)
	if err == nil {
		err = synced.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

func wantBody(t testing.TB, s *raw.Segments, ref raw.Ref, body []byte) {
	t.Helper()
	if got, err := s.Read(ref); err != nil || !bytes.Equal(got, body) {
		t.Errorf("Read(%s) = %d bytes, error %v; want the %d bytes that were appended", ref, len(got), err, len(body))
	}
	if !s.Has(ref) {
		t.Errorf("Has(%s) = false, want true", ref)
	}
}

func wantGone(t testing.TB, s *raw.Segments, ref raw.Ref, want error) {
	t.Helper()
	if got, err := s.Read(ref); !errors.Is(err, want) || got != nil {
		t.Errorf("Read(%s) = %d bytes, error %v; want none and the error %v", ref, len(got), err, want)
	}
	if s.Has(ref) {
		t.Errorf("Has(%s) = true, want false", ref)
	}
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestWhatIsAppendedCanBeRead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	bodies := [][]byte{text(5000), {}, text(10), randomBytes(70_000), text(200_000)}
	mixed := append(records(free, bodies...), records(paid, bodies...)...)
	refs := keep(t, s, start, mixed)
	refs = append(refs, keep(t, s, start, mixed)...)
	for i, ref := range refs {
		wantBody(t, s, ref, bodies[i%len(bodies)])
	}
	if n := len(files(t, dir)); n != 2 {
		t.Errorf("%d files, want one for each class", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantBody(t, s, refs[0], bodies[0]) // stored records can be read after Close
	again := open(t, dir, clock.NewFake(start))
	for i, ref := range refs {
		wantBody(t, again, ref, bodies[i%len(bodies)])
	}
}

func TestAppendOfNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	if refs := keep(t, s, start, nil); len(refs) != 0 || len(files(t, dir)) != 0 {
		t.Errorf("Append of no record: refs %v, files %v, want none", refs, files(t, dir))
	}
}

func TestAppendRefusesRecordsOutOfBounds(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	good := records(free, text(100))[0]
	for name, bad := range map[string]raw.Record{
		"no data":     {Class: free},
		"no class":    {Data: good.Data},
		"below zero":  {Class: -free, Data: good.Data},
		"half second": {Class: 500 * time.Millisecond, Data: good.Data},
		"for ever":    {Class: 10_000 * time.Hour, Data: good.Data},
	} {
		if refs, _, err := s.Append(start, []raw.Record{good, bad}); !errors.Is(err, raw.ErrRecord) || refs != nil {
			t.Errorf("%s: s.Append(start, []raw.Record{good, bad}) = %v, %v, want the error %v and nil", name, refs, err, raw.ErrRecord)
		}
	}
	if _, _, err := s.Append(time.Time{}, []raw.Record{good}); !errors.Is(err, raw.ErrRecord) {
		t.Errorf("at no time: %v, want the error %v", err, raw.ErrRecord)
	}
	if len(files(t, dir)) != 0 {
		t.Errorf("the folder has %v after a refused Append, want no file", files(t, dir))
	}
}

func TestARecordIsErasedAfterItsClassAndNotBefore(t *testing.T) {
	dir, c := t.TempDir(), clock.NewFake(start)
	s := open(t, dir, c)
	short := keep(t, s, start, records(free, text(3000)))[0]
	long := keep(t, s, start, records(paid, text(3000)))[0]
	sweep := func(at time.Time, want int) {
		t.Helper()
		if n, err := s.Sweep(at); n != want || err != nil {
			t.Errorf("Sweep(%s) = %d, %v; want %d", at.Format(time.TimeOnly), n, err, want)
		}
	}
	const late = 35 * time.Second // period and slack
	sweep(start.Add(free+late-1), 0)
	wantBody(t, s, short, text(3000))
	sweep(start.Add(free+late), 1)
	wantGone(t, s, short, raw.ErrGone)
	wantBody(t, s, long, text(3000))
	end := keep(t, s, start.Add(19*time.Second), records(free, text(2000)))[0] // the end of a period
	sweep(start.Add(free+late-1), 0)
	wantBody(t, s, end, text(2000))
	sweep(start.Add(paid+late), 2)
	wantGone(t, s, long, raw.ErrGone)
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("the folder has %v, want no file left", left)
	}
}

func TestOpenRemovesExpiredSegments(t *testing.T) {
	dir, c := t.TempDir(), clock.NewFake(start)
	s := open(t, dir, c)
	short := keep(t, s, start, records(free, text(3000)))[0]
	long := keep(t, s, start, records(paid, text(3000)))[0]
	s.Close()
	stranger := filepath.Join(dir, "notes.txt")
	os.WriteFile(stranger, nil, 0o600)
	c.Advance(free + 35*time.Second)
	again := open(t, dir, c)
	wantGone(t, again, short, raw.ErrGone)
	wantBody(t, again, long, text(3000))
	if _, err := os.Stat(stranger); err != nil {
		t.Errorf("a file that is no segment was touched: %v", err)
	}
}

func TestEachPeriodHasAFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	for i, c := range []struct {
		after time.Duration
		files int
	}{{0, 1}, {19 * time.Second, 1}, {20 * time.Second, 2}, {19 * time.Second, 2}, {39 * time.Second, 2}, {time.Minute, 3}, {0, 4}} {
		keep(t, s, start.Add(c.after), records(free, text(100)))
		if n := len(files(t, dir)); n != c.files {
			t.Errorf("append %d, %s after the start: %d files, want %d", i, c.after, n, c.files)
		}
	}
}

func TestFullSegmentIsReplaced(t *testing.T) {
	dir := t.TempDir()
	s, err := raw.OpenFaulty(dir, clock.NewFake(start), slog.New(slog.DiscardHandler), &raw.Faults{}, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var refs []raw.Ref
	for range 10 {
		refs = append(refs, keep(t, s, start, records(free, randomBytes(4000)))...)
	}
	if n := len(files(t, dir)); n != 4 {
		t.Errorf("%d files, want 4: three batches of 4,000 bytes reach 10,000", n)
	}
	for _, ref := range refs {
		if !s.Has(ref) {
			t.Errorf("Has(%s) = false, want true", ref)
		}
	}
}

func TestFolderIsLocked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	if _, err := raw.Open(dir, clock.NewFake(start), slog.New(slog.DiscardHandler)); !errors.Is(err, raw.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second Open: %v, want the error %v and %v in it", err, raw.ErrLocked, dir)
	}
	s.Close()
	open(t, dir, clock.NewFake(start))
}

func TestClose(t *testing.T) {
	s := open(t, t.TempDir(), clock.NewFake(start))
	keep(t, s, start, records(free, text(100)))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	for _, class := range []time.Duration{free, paid} {
		if _, _, err := s.Append(start, records(class, text(100))); !errors.Is(err, raw.ErrClosed) {
			t.Errorf("Append after Close = %v, want the error %v", err, raw.ErrClosed)
		}
	}
}

func TestOnlyTheOwnerMayRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	keep(t, open(t, dir, clock.NewFake(start)), start, records(free, text(100)))
	for _, path := range append(files(t, dir), dir) {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v, %v, want it for its owner alone", path, info.Mode(), err)
		}
	}
}

func TestAppendersAndReadersTogether(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	var all sync.WaitGroup
	for g := range 6 {
		all.Go(func() {
			for i := range 20 {
				body := fmt.Appendf(nil, "message %d of %d %s", i, g, text(2000+i))
				class := []time.Duration{free, paid}[i%2]
				at := start.Add(time.Duration(i%3) * 10 * time.Minute)
				refs, synced, err := s.Append(at, records(class, body, body))
				if err != nil {
					t.Error(err)
					return
				}
				if err := synced.Wait(); err != nil {
					t.Error(err)
				}
				for _, ref := range refs {
					wantBody(t, s, ref, body)
				}
			}
		})
	}
	all.Go(func() {
		for range 20 {
			if n, err := s.Sweep(start); n != 0 || err != nil {
				t.Errorf("Sweep = %d, %v, want 0", n, err)
			}
		}
	})
	all.Wait()
}
