package clock_test

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

func TestSecondsAreRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0: 0, 1: 1, time.Second - 1: 1, time.Second: 1, time.Second + 1: 2, 90 * time.Second: 90, time.Hour - time.Millisecond: 3600, -time.Second: 0,
	} {
		if got := clock.Seconds(d); got != want {
			t.Errorf("Seconds(%s) = %d, want %d", d, got, want)
		}
	}
}
