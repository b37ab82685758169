package raw_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/raw"
)

// sizes are lengths of messages around the limits of chunks.
var sizes = []int{0, 1, 1023, 1024, raw.ChunkSize - 1, raw.ChunkSize, raw.ChunkSize + 1, 2 * raw.ChunkSize, 2*raw.ChunkSize + 1, 300<<10 + 7}

func TestCompressChunksAndBack(t *testing.T) {
	for _, n := range sizes {
		for name, content := range map[string][]byte{"text": text(n), "random": randomBytes(n), "zeros": make([]byte, n), "both": append(randomBytes(n/2), text(n-n/2)...)} {
			for _, cut := range []int{0, 1, n / 3, n} {
				cut = min(cut, n)
				compressed := raw.CompressChunks([]byte("before"), content[:cut], nil, content[cut:])
				compressed, ok := bytes.CutPrefix(compressed, []byte("before"))
				if most := n + 11 + 8*(n/raw.ChunkSize+1); !ok || len(compressed) > most {
					t.Errorf("CompressChunks of %s of %d octets, cut at %d: %d octets, appended: %t; want at most %d, appended", name, n, cut, len(compressed), ok, most)
				}
				if name == "text" && n >= 4096 && len(compressed) > n*3/4 {
					t.Errorf("CompressChunks of text of %d octets: %d octets, want at most %d", n, len(compressed), n*3/4)
				}
				if back, err := raw.Decompress(compressed); err != nil || !bytes.Equal(back, content) {
					t.Errorf("Decompress of %s of %d octets, cut at %d: %d octets, %v, want the same content", name, n, cut, len(back), err)
				}
			}
		}
	}
}

func TestDecompressRefusesDamagedChunks(t *testing.T) {
	compressed := raw.CompressChunks(nil, text(200_000), randomBytes(100_000))
	for range 500 {
		damaged := bytes.Clone(compressed)
		damaged[1+rand.IntN(len(damaged)-1)] ^= 1 << rand.IntN(8)
		if content, err := raw.Decompress(damaged); err == nil {
			t.Fatalf("%d bytes came back, want an error", len(content))
		}
	}
	for _, n := range []int{1, 2, 4, 12, 1000, len(compressed) - 1} {
		if _, err := raw.Decompress(compressed[:n]); err == nil {
			t.Errorf("the first %d bytes were taken, want an error", n)
		}
	}
	if _, err := raw.Decompress(append(compressed, 0)); err == nil {
		t.Error("Decompress with an octet behind the last chunk returned no error, want one")
	}
}

// readAll reads to the end. After an error it also returns what was read before.
func readAll(t testing.TB, r *raw.Reader) (content []byte, err error) {
	t.Helper()
	for {
		octets, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			if r.Size() != int64(len(content)) {
				t.Errorf("the reader returned %d octets, want Size() = %d", len(content), r.Size())
			}
			return content, nil
		}
		if err != nil {
			return content, err
		}
		if int64(len(octets)) > r.Memory() {
			t.Errorf("Next returned %d octets, want at most Memory() = %d", len(octets), r.Memory())
		}
		content = append(content, octets...)
	}
}

// bodies returns raw messages of every size and kind, and records of them in every form.
func bodies() (content [][]byte, all []raw.Record) {
	for _, n := range sizes {
		for _, body := range [][]byte{text(n), randomBytes(n)} {
			content = append(content, body, body, body)
			for _, data := range [][]byte{raw.CompressChunks(nil, body), raw.Compress(nil, body), raw.Store(nil, body)} {
				all = append(all, raw.Seal(free, data))
			}
		}
	}
	return content, all
}

func TestAReaderReturnsWhatWasAppended(t *testing.T) {
	content, records := bodies()
	s := open(t, t.TempDir(), clock.NewFake(start))
	for i, ref := range keep(t, s, start, records) {
		r, err := s.NewReader(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(t, r); err != nil || !bytes.Equal(got, content[i]) {
			t.Errorf("record %d: %d octets, %v, want the %d that were appended", i, len(got), err, len(content[i]))
		}
	}
}

func TestAReaderOfATableReturnsWhatWasAppended(t *testing.T) {
	content, records := bodies()
	d := dbtest.OpenPostgres(t, db.Options{})
	table := raw.NewTable(d)
	begin := time.Date(2026, 3, 14, 12, 7, 0, 0, time.UTC)
	refs := keepInTable(t, d, table, begin, records)
	for i, ref := range refs {
		r, err := table.NewReader(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(t, r); err != nil || !bytes.Equal(got, content[i]) {
			t.Errorf("record %d: %d octets, %v, want the %d that were appended", i, len(got), err, len(content[i]))
		}
	}
	last := len(refs) - 3 // the largest, in chunks
	r, err := table.NewReader(t.Context(), refs[last])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Sweep(t.Context(), begin.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); !errors.Is(err, raw.ErrGone) {
		t.Errorf("a raw message that was erased meanwhile: %v, want the error %v", err, raw.ErrGone)
	}
}

func TestAReaderHoldsOneChunk(t *testing.T) {
	s := open(t, t.TempDir(), clock.NewFake(start))
	refs := keep(t, s, start, []raw.Record{raw.Seal(free, raw.CompressChunks(nil, randomBytes(1<<20)))})
	r, err := s.NewReader(t.Context(), refs[0])
	if err != nil {
		t.Fatal(err)
	}
	if r.Memory() > raw.ChunkSize {
		t.Errorf("Memory() = %d, want at most %d", r.Memory(), raw.ChunkSize)
	}
}

// Everything that a reader returns before it detects damage is the beginning of the message.
func TestAReaderNeverReturnsWrongOctets(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	sent := slices.Concat(text(150_000), randomBytes(150_000))
	ref := keep(t, s, start, []raw.Record{raw.Seal(free, raw.CompressChunks(nil, sent))})[0]
	path := files(t, dir)[0]
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begins := len("gbxseg2\n") + raw.HeaderSize
	ends := begins + len(raw.CompressChunks(nil, sent))
	for range 300 {
		damaged := bytes.Clone(content)
		damaged[begins+rand.IntN(ends-begins)] ^= 1 << rand.IntN(8)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		var got []byte
		r, err := s.NewReader(t.Context(), ref)
		if err == nil {
			got, err = readAll(t, r)
		}
		if !errors.Is(err, raw.ErrDamaged) || !bytes.HasPrefix(sent, got) {
			t.Fatalf("the damaged record: %d octets, %v, want the beginning of what was sent and %v", len(got), err, raw.ErrDamaged)
		}
	}
}

func TestAReaderOfAnErasedSegment(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	ref := keep(t, s, start, []raw.Record{raw.Seal(free, raw.CompressChunks(nil, randomBytes(300_000)))})[0]
	r, err := s.NewReader(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(files(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); !errors.Is(err, raw.ErrGone) {
		t.Errorf("reading on: %v, want the error %v", err, raw.ErrGone)
	}
	if _, err := s.NewReader(t.Context(), ref); !errors.Is(err, raw.ErrGone) {
		t.Errorf("reading anew: %v, want the error %v", err, raw.ErrGone)
	}
}

func BenchmarkCompressChunks(b *testing.B) {
	content := text(1 << 20)
	dst := make([]byte, 0, 2<<20)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		raw.CompressChunks(dst, content)
	}
}
