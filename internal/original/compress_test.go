package original_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/original"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// text looks like mail: words, a few of them often.
func text(n int) []byte {
	words := strings.Fields("your verification code is enter it within ten minutes if you did not ask for this message you may ignore " +
		"it the team <p> </p> style=\"margin:0\" https://example.com/verify?token= order shipped total invoice =3D =20")
	b := make([]byte, 0, n+64)
	for i := 0; len(b) < n; i++ {
		b = append(append(b, words[(i*i+3*i)%len(words)]...), ' ')
		b = append(strconv.AppendInt(b, int64(i*2654435761%4099), 16), ' ')
	}
	return b[:n]
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func TestCompressAndBack(t *testing.T) {
	for _, n := range []int{0, 1, 1023, 1024, 4096, 128 << 10, 128<<10 + 1, 300<<10 + 7} {
		for name, raw := range map[string][]byte{"text": text(n), "noise": noise(n), "zeros": make([]byte, n)} {
			packed := original.Compress([]byte("before"), raw)
			packed, ok := bytes.CutPrefix(packed, []byte("before"))
			if !ok || len(packed) > n+1 {
				t.Errorf("%s of %d: %d bytes", name, n, len(packed))
			}
			if name == "text" && n >= 4096 && len(packed) > n*3/4 {
				t.Errorf("text of %d takes %d bytes", n, len(packed))
			}
			if back, err := original.Decompress(packed); err != nil || !bytes.Equal(back, raw) {
				t.Errorf("%s of %d: back come %d bytes, %v", name, n, len(back), err)
			}
		}
	}
}

// A result above 1 MiB takes another way, so that no decoder holds on to it.
func TestDecompressALargeResult(t *testing.T) {
	raw := bytes.Repeat([]byte("all work and no play "), 100_000)
	if back, err := original.Decompress(original.Compress(nil, raw)); err != nil || !bytes.Equal(back, raw) {
		t.Errorf("back come %d bytes, %v", len(back), err)
	}
}

func TestCompressAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "unit")
		raw := bytes.Repeat(unit, rapid.IntRange(0, 50).Draw(t, "times"))
		if back, err := original.Decompress(original.Compress(nil, raw)); err != nil || !bytes.Equal(back, raw) {
			t.Fatalf("%d bytes: %v", len(raw), err)
		}
	})
}

func TestCompressTogether(t *testing.T) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			raw := text(5000 + i)
			for range 10 {
				if back, err := original.Decompress(original.Compress(nil, raw)); err != nil || !bytes.Equal(back, raw) {
					t.Errorf("%d bytes: %v", len(raw), err)
				}
			}
		})
	}
	all.Wait()
}

// frame is what a forger would make: any claim, any zstd frames.
func frame(claim uint64, frames ...[]byte) []byte {
	return append(binary.AppendUvarint([]byte{1}, claim), bytes.Join(frames, nil)...)
}

func TestDecompressRefusesForgeries(t *testing.T) {
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	zeros := e.EncodeAll(make([]byte, 1<<20), nil)
	for name, data := range map[string][]byte{
		"nothing":             {},
		"another mark":        {2, 0, 0},
		"no claim":            {1},
		"endless claim":       {1, 0x80, 0x80, 0x80},
		"no frame":            frame(100),
		"no zstd":             frame(3, []byte("abc")),
		"a claim too small":   frame(1<<20-1, zeros),
		"a claim too large":   frame(1<<20+1, zeros),
		"a huge claim":        frame(1<<40, zeros),
		"a claim for a bomb":  frame(1<<28, zeros[:12]),
		"two frames":          frame(1<<20, zeros, zeros),
		"half a frame":        frame(1<<20, zeros[:len(zeros)/2]),
		"something behind it": frame(1<<20, zeros, []byte("more")),
	} {
		if raw, err := original.Decompress(data); err == nil {
			t.Errorf("%s: Decompress gave %d bytes", name, len(raw))
		}
	}
}

// A forged claim must not make us set aside what the frame cannot hold.
func TestAForgedClaimCostsNoMemory(t *testing.T) {
	bomb := frame(original.MaxSize, noise(100))
	var before, after runtime.MemStats
	original.Decompress(original.Compress(nil, text(5000))) // the decoder is there
	runtime.ReadMemStats(&before)
	for range 100 {
		original.Decompress(bomb)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("%d bytes set aside", grown)
	}
}

func FuzzDecompress(f *testing.F) {
	for _, n := range []int{0, 10, 1024, 5000} {
		f.Add(original.Compress(nil, text(n)))
	}
	f.Add(frame(1<<20, []byte{0x28, 0xb5, 0x2f, 0xfd}))
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, err := original.Decompress(data)
		if err == nil && len(raw) > original.MaxSize {
			t.Errorf("%d bytes from %d", len(raw), len(data))
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	for _, n := range []int{512, 4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			raw := text(n)
			var dst []byte
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				dst = original.Compress(dst[:0], raw)
			}
			b.ReportMetric(float64(len(dst))/float64(n), "ratio")
		})
	}
}

func BenchmarkDecompress(b *testing.B) {
	for _, n := range []int{512, 4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			packed := original.Compress(nil, text(n))
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				original.Decompress(packed)
			}
		})
	}
}
