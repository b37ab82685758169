package original_test

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
	"github.com/gonebox/gonebox/internal/original"
)

// sizes are around the bounds of chunks.
var sizes = []int{0, 1, 1023, 1024, original.ChunkSize - 1, original.ChunkSize, original.ChunkSize + 1, 2 * original.ChunkSize, 2*original.ChunkSize + 1, 300<<10 + 7}

func TestCompressChunksAndBack(t *testing.T) {
	for _, n := range sizes {
		for name, raw := range map[string][]byte{"text": text(n), "noise": noise(n), "zeros": make([]byte, n), "both": append(noise(n/2), text(n-n/2)...)} {
			for _, cut := range []int{0, 1, n / 3, n} {
				cut = min(cut, n)
				packed := original.CompressChunks([]byte("before"), raw[:cut], nil, raw[cut:])
				packed, ok := bytes.CutPrefix(packed, []byte("before"))
				if most := n + 11 + 8*(n/original.ChunkSize+1); !ok || len(packed) > most {
					t.Errorf("%s of %d cut at %d: %d bytes", name, n, cut, len(packed))
				}
				if name == "text" && n >= 4096 && len(packed) > n*3/4 {
					t.Errorf("text of %d takes %d bytes", n, len(packed))
				}
				if back, err := original.Decompress(packed); err != nil || !bytes.Equal(back, raw) {
					t.Errorf("%s of %d cut at %d: back come %d bytes, %v", name, n, cut, len(back), err)
				}
			}
		}
	}
}

func TestDecompressRefusesDamagedChunks(t *testing.T) {
	packed := original.CompressChunks(nil, text(200_000), noise(100_000))
	for range 500 {
		damaged := bytes.Clone(packed)
		damaged[1+rand.IntN(len(damaged)-1)] ^= 1 << rand.IntN(8)
		if raw, err := original.Decompress(damaged); err == nil {
			t.Fatalf("%d bytes came back", len(raw))
		}
	}
	for _, n := range []int{1, 2, 4, 12, 1000, len(packed) - 1} {
		if _, err := original.Decompress(packed[:n]); err == nil {
			t.Errorf("the first %d bytes were taken", n)
		}
	}
	if _, err := original.Decompress(append(packed, 0)); err == nil {
		t.Error("something more was taken")
	}
}

// readAll reads to the end. It returns what was read before an error, too.
func readAll(t testing.TB, r *original.Reader) (raw []byte, err error) {
	t.Helper()
	for {
		octets, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			if r.Size() != int64(len(raw)) {
				t.Errorf("%d bytes were read of %d", len(raw), r.Size())
			}
			return raw, nil
		}
		if err != nil {
			return raw, err
		}
		if int64(len(octets)) > r.Memory() {
			t.Errorf("%d bytes are held, and %d were announced", len(octets), r.Memory())
		}
		raw = append(raw, octets...)
	}
}

// bodies are originals of every size and kind, in every form.
func bodies() (raw [][]byte, all []original.Record) {
	for _, n := range sizes {
		for _, body := range [][]byte{text(n), noise(n)} {
			raw = append(raw, body, body, body)
			for _, data := range [][]byte{original.CompressChunks(nil, body), original.Compress(nil, body), original.Store(nil, body)} {
				all = append(all, original.Record{Class: free, Data: data})
			}
		}
	}
	return raw, all
}

func TestAReaderGivesWhatWasAppended(t *testing.T) {
	raw, records := bodies()
	s := open(t, t.TempDir(), clock.NewFake(start))
	for i, ref := range keep(t, s, start, records) {
		r, err := s.NewReader(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(t, r); err != nil || !bytes.Equal(got, raw[i]) {
			t.Errorf("record %d: %d bytes of %d, %v", i, len(got), len(raw[i]), err)
		}
	}
}

func TestAReaderOfATableGivesWhatWasAppended(t *testing.T) {
	raw, records := bodies()
	d := dbtest.OpenPostgres(t, db.Options{})
	table := original.NewTable(d)
	begin := time.Date(2026, 3, 14, 12, 7, 0, 0, time.UTC)
	refs := keepInTable(t, d, table, begin, records)
	for i, ref := range refs {
		r, err := table.NewReader(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(t, r); err != nil || !bytes.Equal(got, raw[i]) {
			t.Errorf("record %d: %d bytes of %d, %v", i, len(got), len(raw[i]), err)
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
	if _, err := r.Next(t.Context()); !errors.Is(err, original.ErrGone) {
		t.Errorf("an original that was erased meanwhile: %v", err)
	}
}

func TestAReaderHoldsOneChunk(t *testing.T) {
	s := open(t, t.TempDir(), clock.NewFake(start))
	refs := keep(t, s, start, []original.Record{{Class: free, Data: original.CompressChunks(nil, noise(1<<20))}})
	r, err := s.NewReader(t.Context(), refs[0])
	if err != nil {
		t.Fatal(err)
	}
	if r.Memory() > original.ChunkSize {
		t.Errorf("it holds %d bytes", r.Memory())
	}
}

// What a reader gives before it meets damage is the beginning of the message.
func TestAReaderNeverGivesOtherOctets(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	raw := slices.Concat(text(150_000), noise(150_000))
	ref := keep(t, s, start, []original.Record{{Class: free, Data: original.CompressChunks(nil, raw)}})[0]
	path := files(t, dir)[0]
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begins := len("gbxseg2\n") + original.HeaderSize
	ends := begins + len(original.CompressChunks(nil, raw))
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
		if !errors.Is(err, original.ErrDamaged) || !bytes.HasPrefix(raw, got) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
}

func TestAReaderOfAnErasedSegment(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, clock.NewFake(start))
	ref := keep(t, s, start, []original.Record{{Class: free, Data: original.CompressChunks(nil, noise(300_000))}})[0]
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
	if _, err := r.Next(t.Context()); !errors.Is(err, original.ErrGone) {
		t.Errorf("reading on: %v", err)
	}
	if _, err := s.NewReader(t.Context(), ref); !errors.Is(err, original.ErrGone) {
		t.Errorf("reading anew: %v", err)
	}
}

func BenchmarkCompressChunks(b *testing.B) {
	raw := text(1 << 20)
	room := make([]byte, 0, 2<<20)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		original.CompressChunks(room, raw)
	}
}
