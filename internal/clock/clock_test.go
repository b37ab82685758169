package clock_test

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

func TestFakeFiresWhatIsDueAndNothingElse(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	f := clock.NewFake(start)
	early, late, stopped := f.NewTimer(time.Minute), f.NewTimer(time.Hour), f.NewTimer(time.Second)
	stopped.Stop()
	stopped.Stop()

	f.Advance(time.Minute)

	select {
	case at := <-early.C:
		if !at.Equal(start.Add(time.Minute)) {
			t.Errorf("fired at %v", at)
		}
	default:
		t.Error("the due timer did not fire")
	}
	for name, timer := range map[string]*clock.Timer{"late": late, "stopped": stopped} {
		select {
		case <-timer.C:
			t.Errorf("the %s timer fired", name)
		default:
		}
	}
	if got := f.Waiting(); got != 1 {
		t.Errorf("Waiting() = %d, want the late timer alone", got)
	}
}

func TestFakeFiresAtOnceForNoDelay(t *testing.T) {
	f := clock.NewFake(time.Unix(0, 0))
	select {
	case <-f.NewTimer(0).C:
	default:
		t.Error("a timer of zero did not fire at once")
	}
}

func TestSystemSpeaksUTC(t *testing.T) {
	if loc := clock.System().Now().Location(); loc != time.UTC {
		t.Errorf("Now() is in %v", loc)
	}
	timer := clock.System().NewTimer(0)
	defer timer.Stop()
	<-timer.C
}
