package buffer_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/buffer"
)

func TestGetReturnsAnEmptySliceOfItsSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 2*buffer.Max).Draw(t, "n")
		b := buffer.Get(n)
		if len(*b) != 0 || cap(*b) < n || cap(*b) != buffer.Size(n) {
			t.Errorf("Get(%d) has length %d and capacity %d, want 0 and Size(%d) = %d, which is no less", n, len(*b), cap(*b), n, buffer.Size(n))
		}
		*b = append(*b, make([]byte, rapid.IntRange(0, 2*buffer.Max).Draw(t, "used"))...)
		buffer.Put(b)
	})
}

func TestSizeIsAPowerOfTwoUpToMax(t *testing.T) {
	for n, want := range map[int]int{
		0: 4096, 1: 4096, 4096: 4096, 4097: 8192, 65536: 65536, 65544: 131072,
		buffer.Max: buffer.Max, buffer.Max + 1: buffer.Max + 1,
	} {
		if got := buffer.Size(n); got != want {
			t.Errorf("Size(%d) = %d, want %d", n, got, want)
		}
	}
}

var sink []byte

func BenchmarkGet(b *testing.B) {
	const size = 64 << 10
	b.Run("pool", func(b *testing.B) {
		for b.Loop() {
			buf := buffer.Get(size)
			*buf = append(*buf, 1)
			buffer.Put(buf)
		}
	})
	b.Run("allocator", func(b *testing.B) {
		for b.Loop() {
			sink = append(make([]byte, 0, size), 1)
		}
	})
}
