package raw

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// BenchmarkDirect writes and syncs batches with and without O_DIRECT, and reports the CPU time of one.
func BenchmarkDirect(b *testing.B) {
	for _, size := range []int64{32 << 10, 448 << 10} {
		for _, direct := range []bool{true, false} {
			b.Run(fmt.Sprintf("%dKiB/direct=%v", size>>10, direct), func(b *testing.B) {
				f, err := os.OpenFile(filepath.Join(b.TempDir(), "segment"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
				if err != nil {
					b.Fatal(err)
				}
				defer f.Close()
				if err := setDirect(f, direct); err != nil {
					b.Skip(err)
				}
				blocks := alignedBuffer(size)[:size]
				begun := cpuTime(b)
				for b.Loop() {
					if _, err := f.Write(blocks); err != nil {
						b.Fatal(err)
					}
					if err := datasync(f); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpuTime(b)-begun).Microseconds())/float64(b.N), "µs-cpu/op")
			})
		}
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
