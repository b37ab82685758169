package raw_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/raw"
)

// crashed is the content of the folder after a process has ended without Close: one segment file with three records.
type crashed struct {
	file   string
	bytes  []byte
	bodies [][]byte
	refs   []raw.Ref
	starts []int // offset at which each record begins
	ends   []int // offset at which each record ends
}

func crash(t testing.TB) crashed {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	c := crashed{bodies: [][]byte{text(1500), text(9), text(21)}}
	for i, b := range c.bodies {
		c.refs = append(c.refs, keep(t, s, start, records(free, b))...)
		begins := i * raw.BlockSize
		if i == 0 {
			begins = len("gbxseg2\n")
		}
		c.starts = append(c.starts, begins)
		c.ends = append(c.ends, begins+raw.HeaderSize+len(raw.Compress(nil, b)))
	}
	path := files(t, dir)[0]
	content, err := os.ReadFile(path) // before Close: there is no trailer yet
	if err != nil {
		t.Fatal(err)
	}
	c.file, c.bytes = filepath.Base(path), content
	return c
}

// restart opens a folder that holds content as its only segment.
func (c crashed) restart(t testing.TB, content []byte) (*raw.Segments, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, c.file), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return openWithoutSync(t, dir), dir
}

// openWithoutSync is open, but syncs do nothing.
func openWithoutSync(t testing.TB, dir string) *raw.Segments {
	t.Helper()
	s, err := raw.OpenFaulty(dir, clock.NewFake(start), slog.New(slog.DiscardHandler), &raw.Faults{NoDisk: true}, noLimit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestACutTailIsDroppedAtEveryLength(t *testing.T) {
	c := crash(t)
	for size := c.ends[0]; size <= len(c.bytes); size++ {
		if size > c.ends[0]+20 && size%raw.BlockSize > 100 {
			continue // within the zeros that fill a block, the length makes no difference
		}
		s, dir := c.restart(t, c.bytes[:size])
		for i, ref := range c.refs {
			if c.ends[i] <= size {
				wantBody(t, s, ref, c.bodies[i])
			} else {
				wantGone(t, s, ref, raw.ErrGone)
			}
		}
		more := keep(t, s, start, records(free, text(700)))[0]
		s.Close()
		again := openWithoutSync(t, dir)
		wantBody(t, again, more, text(700))
		wantBody(t, again, c.refs[0], c.bodies[0])
		if got, want := again.Has(c.refs[2]), size >= c.ends[2]; got != want {
			t.Errorf("segment cut to %d bytes: Has of the last record = %t, want %t", size, got, want)
		}
		again.Close()
	}
}

func TestASegmentCutBeforeItsFirstRecordIsRemoved(t *testing.T) {
	c := crash(t)
	for size := range 8 {
		s, dir := c.restart(t, c.bytes[:size])
		if left := files(t, dir); len(left) != 0 {
			t.Errorf("segment cut to %d bytes: Open left the files %v, want none", size, left)
		}
		wantGone(t, s, c.refs[0], raw.ErrGone)
		s.Close()
	}
}

// After a crash, a file may have the right length, but zeros or other octets where data was not written.
func TestUnwrittenTailIsDropped(t *testing.T) {
	c := crash(t)
	for name, tail := range map[string][]byte{
		"zeros": make([]byte, 4096), "random": randomBytes(4096), "a length beyond the end": {0xff, 0xff, 0xff, 0xf0, 1, 2, 3, 4, 5},
	} {
		s, dir := c.restart(t, append(bytes.Clone(c.bytes), tail...))
		for i, ref := range c.refs {
			wantBody(t, s, ref, c.bodies[i])
		}
		info, err := os.Stat(files(t, dir)[0])
		if want := int64((c.ends[2]+7)/8*8 + raw.HeaderSize); err != nil || info.Size() != want {
			t.Errorf("segment with %s behind its records: Open left %d bytes and the error %v, want %d", name, info.Size(), err, want)
		}
		s.Close()
	}
}

// Damage after the file was checked is detected when the record is read, whichever bit is damaged.
func TestAFlippedBitIsDamageAndNeverWrongData(t *testing.T) {
	c := crash(t)
	s, dir := c.restart(t, c.bytes)
	path := files(t, dir)[0]
	for at := c.starts[1]; at < c.ends[1]; at++ {
		for bit := range 8 {
			damaged := bytes.Clone(c.bytes)
			damaged[at] ^= 1 << bit
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			wantGone(t, s, c.refs[1], raw.ErrDamaged)
		}
	}
	wantBody(t, s, c.refs[0], c.bodies[0])
	wantBody(t, s, c.refs[2], c.bodies[2])
}

// A sync covers everything that was written before it. An invalid record in front of an acknowledged one is therefore damage and not the
// end of what was synced, so the records behind it are kept.
func TestRecordsBehindDamageAreKept(t *testing.T) {
	c := crash(t)
	damaged := bytes.Clone(c.bytes)
	damaged[c.starts[1]+raw.HeaderSize] ^= 1
	s, _ := c.restart(t, damaged)
	wantBody(t, s, c.refs[0], c.bodies[0])
	wantGone(t, s, c.refs[1], raw.ErrDamaged)
	wantBody(t, s, c.refs[2], c.bodies[2])
}

func TestRecordsBehindADamagedLengthAreGone(t *testing.T) {
	c := crash(t)
	damaged := bytes.Clone(c.bytes)
	damaged[c.starts[1]] ^= 1
	s, _ := c.restart(t, damaged)
	wantBody(t, s, c.refs[0], c.bodies[0])
	wantGone(t, s, c.refs[1], raw.ErrGone)
	wantGone(t, s, c.refs[2], raw.ErrGone)
}

func TestASegmentClosedInOrderIsNotReadAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	ref := keep(t, s, start, records(free, text(3000)))[0]
	again := reopened(t, s, dir)
	path := files(t, dir)[0]
	before, _ := os.ReadFile(path)
	var out strings.Builder
	again.Close()
	third, err := raw.Open(dir, clock.NewFake(start), slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	after, _ := os.ReadFile(path)
	if !bytes.Equal(before, after) || out.Len() != 0 {
		t.Errorf("Open of a segment that was closed in order: got %d bytes, which changed is %t, and the log %q, want the same %d bytes and no log", len(after), !bytes.Equal(before, after), out.String(), len(before))
	}
	wantBody(t, third, ref, text(3000))
}

func TestForeignDataIsDamaged(t *testing.T) {
	s := open(t, t.TempDir(), clock.NewFake(start))
	ref := keep(t, s, start, []raw.Record{raw.Seal(free, []byte("not compressed by us"))})[0]
	if _, err := s.Read(ref); !errors.Is(err, raw.ErrDamaged) {
		t.Errorf("Read of data that raw did not compress: got the error %v, want ErrDamaged", err)
	}
}

func TestInvalidReferenceIsDamaged(t *testing.T) {
	c := crash(t)
	s, _ := c.restart(t, c.bytes)
	good := string(c.refs[1])
	for _, bad := range []string{
		"", ".", "....", "s.", "s." + good, good + ".1", good + " ", "0" + good, "-" + good, strings.ToUpper(good), "../../etc/passwd", good[:len(good)-2],
		"p0.1.1.0.5", "p0.1.1.8.0", "p0.1.1.-8.5", "zzzzzzzzzzzz.1.1.8.5", "p0.-1.1.8.5", "p0.1.zzzzzzzzz.8.5", "p0.1.1.1y2p0ij32e8e7.5",
	} {
		if bad == good {
			continue
		}
		wantGone(t, s, raw.Ref(bad), raw.ErrDamaged)
	}
	if len(good) > 80 {
		t.Errorf("Ref = %q, of %d characters, want 80 at most", good, len(good))
	}
}

// FuzzOpenSegment opens a folder with a segment file of arbitrary content.
func FuzzOpenSegment(f *testing.F) {
	c := crash(f)
	f.Add(c.bytes)
	f.Add(c.bytes[:c.ends[1]+5])
	f.Add([]byte("gbxseg2\n"))
	f.Add([]byte("gbxseg2\n\x00\x00\x00\x00\x00\x00\x00\x00"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(dir, c.file)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s := openWithoutSync(t, dir)
		for _, ref := range c.refs {
			if _, err := s.Read(ref); err != nil && !errors.Is(err, raw.ErrGone) && !errors.Is(err, raw.ErrDamaged) {
				t.Errorf("Read(%s): got the error %v, want none, ErrGone or ErrDamaged", ref, err)
			}
		}
		if info, err := os.Stat(path); err == nil && info.Size() > int64(len(content)+2*raw.HeaderSize) {
			t.Errorf("Open of a segment of %d bytes left %d, want %d more at most", len(content), info.Size(), 2*raw.HeaderSize)
		}
	})
}

func FuzzRef(f *testing.F) {
	for _, s := range []string{"p0.1.1.8.5", "s.p0.2ajk5x.1.8.5", "s.p0.2ajk5x.1.8.5.AAAAAAAAAAAAAAAAAAAAAAAAAAA", "....", "p0.2ajk5.1z141z3.8.16o"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		again, err := raw.Ref(s).Parse()
		if err == nil && again != raw.Ref(s) {
			t.Errorf("Ref(%q).Parse() = %q, want the same or an error", s, again)
		}
		if err != nil && !errors.Is(err, raw.ErrDamaged) {
			t.Errorf("Ref(%q).Parse(): got the error %v, want none or ErrDamaged", s, err)
		}
	})
}
