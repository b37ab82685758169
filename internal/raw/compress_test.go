package raw_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/raw"
	"pgregory.net/rapid"
)

// text returns n octets that compress about as well as mail.
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

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func TestCompressAndBack(t *testing.T) {
	for _, n := range []int{0, 1, 1023, 1024, 4096, 128 << 10, 128<<10 + 1, 300<<10 + 7} {
		for name, content := range map[string][]byte{"text": text(n), "random": randomBytes(n), "zeros": make([]byte, n)} {
			compressed := raw.Compress([]byte("before"), content)
			compressed, ok := bytes.CutPrefix(compressed, []byte("before"))
			if !ok || len(compressed) > n+1 {
				t.Errorf("Compress of %s of %d octets: %d octets, appended: %t; want at most %d, appended", name, n, len(compressed), ok, n+1)
			}
			if name == "text" && n >= 4096 && len(compressed) > n*3/4 {
				t.Errorf("Compress of text of %d octets: %d octets, want at most %d", n, len(compressed), n*3/4)
			}
			if back, err := raw.Decompress(compressed); err != nil || !bytes.Equal(back, content) {
				t.Errorf("Decompress of %s of %d octets: %d octets, %v, want the same content", name, n, len(back), err)
			}
		}
	}
}

// Decompress returns the parts joined, wherever the content was split and whatever the capacity of dst.
func TestCompressParts(t *testing.T) {
	const n = 70_000
	for name, content := range map[string][]byte{"text": text(n), "random": randomBytes(n), "both": append(randomBytes(n/2), text(n/2)...)} {
		whole := len(raw.Compress(nil, content))
		for _, cut := range []int{0, 1, 100, 127, 128, 600, n / 2, n - 1, n} {
			for _, capacity := range []int{6, n, 3 * n} {
				compressed := raw.Compress(append(make([]byte, 0, capacity), "before"...), content[:cut], content[cut:cut], content[cut:])
				compressed, ok := bytes.CutPrefix(compressed, []byte("before"))
				if !ok || len(compressed) > n+1 || len(compressed) > whole+whole/10+600 {
					t.Errorf("Compress of %s cut at %d: %d octets, appended: %t; want at most %d and little more than the %d of one part, appended", name, cut, len(compressed), ok, n+1, whole)
				}
				if back, err := raw.Decompress(compressed); err != nil || !bytes.Equal(back, content) {
					t.Errorf("Decompress of %s cut at %d: %d octets, %v, want the same content", name, cut, len(back), err)
				}
			}
		}
	}
	if back, err := raw.Decompress(raw.Compress(nil)); err != nil || len(back) > 0 {
		t.Errorf("Decompress of nothing compressed = %q, %v, want nothing", back, err)
	}
}

func TestDecompressALargeResult(t *testing.T) {
	content := bytes.Repeat([]byte("all work and no play "), 100_000)
	if back, err := raw.Decompress(raw.Compress(nil, content)); err != nil || !bytes.Equal(back, content) {
		t.Errorf("Decompress = %d octets, %v, want the %d that were compressed", len(back), err, len(content))
	}
}

func TestCompressAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "unit")
		content := bytes.Repeat(unit, rapid.IntRange(0, 50).Draw(t, "times"))
		if back, err := raw.Decompress(raw.Compress(nil, content)); err != nil || !bytes.Equal(back, content) {
			t.Fatalf("Decompress = %d octets, %v, want the %d that were compressed", len(back), err, len(content))
		}
	})
}

func TestCompressTogether(t *testing.T) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			content := text(5000 + i)
			for range 10 {
				if back, err := raw.Decompress(raw.Compress(nil, content)); err != nil || !bytes.Equal(back, content) {
					t.Errorf("Decompress = %d octets, %v, want the %d that were compressed", len(back), err, len(content))
				}
			}
		})
	}
	all.Wait()
}

// block returns a forged S2 block that claims any decompressed length.
func block(claim uint64, content []byte) []byte {
	return append(binary.AppendUvarint([]byte{1}, claim), content...)
}

func TestDecompressRefusesForgeries(t *testing.T) {
	zeros := raw.Compress(nil, make([]byte, 1<<20))
	_, n := binary.Uvarint(zeros[1:])
	content := zeros[1+n:]
	for name, data := range map[string][]byte{
		"nothing":             {},
		"another mark":        {2, 0, 0},
		"no claim":            {1},
		"endless claim":       {1, 0x80, 0x80, 0x80},
		"no content":          block(100, nil),
		"a claim too small":   block(1<<20-1, content),
		"a claim too large":   block(1<<20+1, content),
		"a huge claim":        block(1<<40, content),
		"above the most":      block(raw.MaxSize+1, content),
		"half a block":        block(1<<20, content[:len(content)/2]),
		"something behind it": block(1<<20, append(bytes.Clone(content), "more"...)),
	} {
		if content, err := raw.Decompress(data); err == nil {
			t.Errorf("%s: Decompress gave %d bytes, want an error", name, len(content))
		}
	}
}

func FuzzDecompress(f *testing.F) {
	for _, n := range []int{0, 10, 1024, 5000} {
		f.Add(raw.Compress(nil, text(n)))
	}
	f.Add(block(1<<20, []byte{0xff, 0xff, 0xff, 0xff}))
	f.Fuzz(func(t *testing.T, data []byte) {
		content, err := raw.Decompress(data)
		if err == nil && len(content) > raw.MaxSize {
			t.Errorf("Decompress of %d octets = %d octets, want at most %d", len(data), len(content), raw.MaxSize)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	for _, n := range []int{512, 4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			content := text(n)
			var dst []byte
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				dst = raw.Compress(dst[:0], content)
			}
			b.ReportMetric(float64(len(dst))/float64(n), "ratio")
		})
	}
}

func BenchmarkDecompress(b *testing.B) {
	for _, n := range []int{512, 4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			compressed := raw.Compress(nil, text(n))
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				raw.Decompress(compressed)
			}
		})
	}
}
