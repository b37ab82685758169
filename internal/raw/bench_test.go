package raw_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/raw"
)

// BenchmarkAppend makes batches of 32 messages durable, in the folder for temporary files. Compressing them is not measured.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10} {
		for _, compressed := range []bool{true, false} {
			b.Run(fmt.Sprintf("32x%dKiB/compressed=%v", size>>10, compressed), func(b *testing.B) {
				s, err := raw.Open(b.TempDir(), clock.NewFake(start), slog.New(slog.DiscardHandler))
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				data := raw.Compress(nil, text(size))
				if !compressed {
					data = raw.Compress(nil, randomBytes(size))
				}
				var batch []raw.Record
				for range 32 {
					batch = append(batch, raw.Seal(free, data))
				}
				b.SetBytes(32 * int64(size))
				b.ReportAllocs()
				for b.Loop() {
					_, synced, err := s.Append(start, batch)
					if err == nil {
						err = synced.Wait()
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	s := open(b, b.TempDir(), clock.NewFake(start))
	ref := keep(b, s, start, records(free, text(64<<10)))[0]
	b.SetBytes(64 << 10)
	for b.Loop() {
		if _, err := s.Read(ref); err != nil {
			b.Fatal(err)
		}
	}
}
