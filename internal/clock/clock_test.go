package clock_test

import (
	"fmt"
	"testing"
	"testing/synctest"
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
			t.Errorf("fired at %v, want %v", at, start.Add(time.Minute))
		}
	default:
		t.Error("the due timer did not fire")
	}
	for name, timer := range map[string]*clock.Timer{"late": late, "stopped": stopped} {
		select {
		case <-timer.C:
			t.Errorf("the %s timer fired, want only the one that is due", name)
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

func TestWaitForTimersWaitsUntilAsManySleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := clock.NewFake(time.Unix(0, 0))
		f.WaitForTimers(t, 0)
		late := f.NewTimer(time.Hour)
		woken := make(chan time.Time)
		go func() {
			time.Sleep(time.Second) // a machine that is busy
			woken <- <-f.NewTimer(time.Minute).C
		}()

		f.WaitForTimers(t, 2)
		f.Advance(time.Minute) // would be lost on the goroutine if it had not set its timer yet
		if at := <-woken; !at.Equal(f.Now()) {
			t.Errorf("it woke at %s, want %v", at, f.Now())
		}
		f.WaitForTimers(t, 1)
		go func() {
			time.Sleep(time.Second)
			late.Stop()
		}()
		f.WaitForTimers(t, 0)
	})
}

func TestWaitForTimersGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := clock.NewFake(time.Unix(0, 0))
		f.NewTimer(time.Hour)
		var hung recorder
		f.WaitForTimers(&hung, 2)
		if want := "1 timer(s) waiting on the fake clock, want 2"; hung.fault != want {
			t.Errorf("the failure of a wait for timers is %q, want %q", hung.fault, want)
		}
	})
}

// recorder is a test that fails and goes on.
type recorder struct{ fault string }

func (*recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) { r.fault = fmt.Sprintf(format, args...) }

func TestSystemSpeaksUTC(t *testing.T) {
	if loc := clock.System().Now().Location(); loc != time.UTC {
		t.Errorf("Now() is in %v, want %v", loc, time.UTC)
	}
	timer := clock.System().NewTimer(0)
	defer timer.Stop()
	<-timer.C
}
