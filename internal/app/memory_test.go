package app_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/app"
)

// What is in use while memory is returned must not raise the baseline for good.
func TestMemoryIsReturnedAfterABurst(t *testing.T) {
	const mib = 1 << 20
	var b app.MemoryBaseline
	b.Update(20*mib, 0)
	for _, step := range []struct {
		total, inUse int64 // of the runtime, of the budget
		exceeded     bool
		left         int64 // of total, after memory was returned
	}{
		{30 * mib, mib, false, 0},
		{150 * mib, 120 * mib, false, 0},
		{350 * mib, 100 * mib, true, 300 * mib}, // more than was acquired is in use
		{300 * mib, 150 * mib, true, 180 * mib},
		{170 * mib, 0, true, 40 * mib}, // a little stays in caches
		{100 * mib, 0, false, 0},
		{110 * mib, 0, true, 40 * mib},
	} {
		if got := b.Exceeded(step.total, step.inUse); got != step.exceeded {
			t.Errorf("%d MiB with %d in use: exceeded %v, want %v", step.total/mib, step.inUse/mib, got, step.exceeded)
		}
		if step.exceeded {
			b.Update(step.left, step.inUse)
		}
	}
}
