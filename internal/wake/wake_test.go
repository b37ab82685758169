package wake_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/wake"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const minute = time.Minute

// never is a read that finds nothing and counts how often it was asked.
func never(reads *int) func(context.Context) (int, bool, error) {
	return func(context.Context) (int, bool, error) { *reads++; return *reads, false, nil }
}

func TestUntilReturnsAtOnceWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, start := wake.New(), time.Now()
		got, err := wake.Until(t.Context(), h, "k", minute, func(context.Context) (string, bool, error) { return "mail", true, nil })
		if got != "mail" || err != nil {
			t.Errorf(`Until = %q, %v, want "mail"`, got, err)
		}
		broken := errors.New("broken")
		_, err = wake.Until(t.Context(), h, "k", minute, func(context.Context) (string, bool, error) { return "", false, broken })
		if !errors.Is(err, broken) {
			t.Errorf("Until = %v, want the read's error", err)
		}
		if time.Since(start) != 0 || h.Sleepers() != 0 {
			t.Errorf("after %s with %d sleepers left, want at once and none", time.Since(start), h.Sleepers())
		}
	})
}

func TestUntilWithoutWaitReadsOnce(t *testing.T) {
	for _, wait := range []time.Duration{0, -time.Second} {
		reads := 0
		got, err := wake.Until(t.Context(), wake.New(), "k", wait, never(&reads))
		if got != 1 || err != nil || reads != 1 {
			t.Errorf("wait %s: Until = %d, %v after %d reads, want 1 and 1", wait, got, err, reads)
		}
	}
}

func TestUntilReadsALastTimeWhenTheWaitIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, start, reads := wake.New(), time.Now(), 0
		got, err := wake.Until(t.Context(), h, "k", minute, never(&reads))
		if got != 2 || err != nil {
			t.Errorf("Until = %d, %v, want the second read", got, err)
		}
		if time.Since(start) != minute || h.Sleepers() != 0 {
			t.Errorf("after %s with %d sleepers left, want %s and none", time.Since(start), h.Sleepers(), minute)
		}
	})
}

// A read that is slow counts towards the wait.
func TestUntilCountsTheWaitFromTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, start := wake.New(), time.Now()
		slow := true
		_, err := wake.Until(t.Context(), h, "k", minute, func(context.Context) (int, bool, error) {
			if slow {
				time.Sleep(minute / 2)
			}
			slow = false
			return 0, false, nil
		})
		if err != nil || time.Since(start) != minute {
			t.Errorf("Until = %v after %s, want no error after %s", err, time.Since(start), minute)
		}
	})
}

func TestUntilEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, reads := wake.New(), 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		got, err := wake.Until(ctx, h, "k", minute, never(&reads))
		if got != 0 || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("Until = %d, %v after %s, want 0 and %v after 1 s", got, err, time.Since(start), context.DeadlineExceeded)
		}
		if reads != 1 || h.Sleepers() != 0 {
			t.Errorf("%d reads with %d sleepers left, want 1 and none", reads, h.Sleepers())
		}
	})
}

func TestUntilEitherReadsAgainWhenOneOfItsKeysChanges(t *testing.T) {
	for _, key := range []string{"mailbox", "credential"} {
		synctest.Test(t, func(t *testing.T) {
			h, start := wake.New(), time.Now()
			changed := false
			var sleeper sync.WaitGroup
			sleeper.Go(func() {
				got, err := wake.UntilEither(t.Context(), h, "mailbox", "credential", minute, 0, func(context.Context) (bool, bool, error) {
					return changed, changed, nil
				})
				if !got || err != nil {
					t.Errorf("woken by %s: %t, %v, want got true", key, got, err)
				}
			})
			synctest.Wait()
			h.Wake("another")
			h.Wake(key) // nothing changed: it waits for the next wake-up
			synctest.Wait()
			changed = true
			h.Wake(key)
			sleeper.Wait()
			if time.Since(start) != 0 || h.Sleepers() != 0 {
				t.Errorf("woken by %s after %s with %d sleepers left, want at once and none", key, time.Since(start), h.Sleepers())
			}
		})
	}
}

func TestUntilEitherWithoutASecondKeyIsUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, start, reads := wake.New(), time.Now(), 0
		got, err := wake.UntilEither(t.Context(), h, "k", "", minute, 0, never(&reads))
		if got != 2 || err != nil || time.Since(start) != minute || h.Sleepers() != 0 {
			t.Errorf("UntilEither = %d, %v after %s with %d sleepers left, want 2 after %s and none", got, err, time.Since(start), h.Sleepers(), minute)
		}
	})
}

func TestUntilEitherReadsAgainAtIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, start := wake.New(), time.Now()
		got, err := wake.UntilEither(t.Context(), h, "k", "other", minute, 20*time.Second, func(context.Context) (time.Duration, bool, error) {
			passed := time.Since(start)
			return passed, passed >= 30*time.Second, nil // a change that no Wake reports
		})
		if got != 40*time.Second || err != nil || time.Since(start) != got {
			t.Errorf("UntilEither = %s, %v after %s, want 40 s, as long as it took", got, err, time.Since(start))
		}
	})
}

func TestCloseEndsEverySleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, start := wake.New(), time.Now()
		var sleepers sync.WaitGroup
		for _, key := range []string{"a", "b", "b"} {
			sleepers.Go(func() {
				reads := 0
				if got, err := wake.Until(t.Context(), h, key, minute, never(&reads)); got != 1 || err != nil {
					t.Errorf("Until = %d, %v, want the last read value", got, err)
				}
			})
		}
		synctest.Wait()
		if h.Sleepers() != 3 {
			t.Errorf("Sleepers() = %d, want 3", h.Sleepers())
		}
		h.Close()
		h.Close()
		sleepers.Wait()
		reads := 0
		if got, err := wake.Until(t.Context(), h, "a", minute, never(&reads)); got != 1 || err != nil {
			t.Errorf("after Close Until = %d, %v, want 1", got, err)
		}
		if time.Since(start) != 0 {
			t.Errorf("Until returned after %s, want at once", time.Since(start))
		}
	})
}

func TestWakeReachesEverySleeperOfItsKeysAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := wake.New()
		var woken [3]atomic.Int32
		for i, key := range []string{"a", "b", "c"} {
			for range 10 {
				go wake.Until(t.Context(), h, key, minute, func(context.Context) (int, bool, error) {
					woken[i].Add(1)
					return 0, false, nil
				})
			}
		}
		synctest.Wait()
		h.Wake("a", "c", "unused")
		synctest.Wait()
		if a, b, c := woken[0].Load(), woken[1].Load(), woken[2].Load(); a != 20 || b != 10 || c != 20 {
			t.Errorf("reads of a, b, c: %d, %d, %d; want 20, 10, 20", a, b, c)
		}
		h.Close()
		synctest.Wait()
	})
}

func TestManyWakesCostOneFurtherRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, hold, reads := wake.New(), make(chan struct{}), 0
		go wake.Until(t.Context(), h, "k", minute, func(context.Context) (int, bool, error) {
			if reads++; reads == 2 {
				<-hold // the storm comes while this read goes on
			}
			return 0, false, nil
		})
		synctest.Wait()
		h.Wake("k")
		synctest.Wait()
		for range 1000 {
			h.Wake("k")
		}
		close(hold)
		synctest.Wait()
		if reads != 3 {
			t.Errorf("%d reads, want the first, the held one and one for the storm", reads)
		}
		h.Close()
		synctest.Wait()
	})
}

// Ten thousand sleepers on one key are neither woken by another key nor delay its sleeper.
func TestSleepersOnOneKeyDoNotDelayAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, crowd := wake.New(), atomic.Int32{}
		for range 10_000 {
			go wake.Until(t.Context(), h, "crowd", minute, func(context.Context) (int, bool, error) {
				crowd.Add(1)
				return 0, false, nil
			})
		}
		there := atomic.Bool{}
		alone := make(chan bool, 1)
		go func() {
			got, _ := wake.Until(t.Context(), h, "alone", minute, func(context.Context) (bool, bool, error) {
				return there.Load(), there.Load(), nil
			})
			alone <- got
		}()
		synctest.Wait()
		there.Store(true)
		h.Wake("alone")
		if !<-alone || crowd.Load() != 10_000 {
			t.Errorf("the crowd read %d times, want 10000 and the value for the one that is alone", crowd.Load())
		}
		h.Close()
		synctest.Wait()
	})
}

// A call that reads is not waiting: what happens then does not wake it.
func TestWaitingCountsCallsThatSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := wake.New()
		reading, proceed := make(chan struct{}), make(chan struct{})
		var ended sync.WaitGroup
		ended.Go(func() {
			_, _ = wake.UntilEither(t.Context(), h, "a", "b", minute, 0, func(context.Context) (int, bool, error) {
				reading <- struct{}{}
				<-proceed
				return 0, false, nil
			})
		})
		want := func(when string, n int) {
			t.Helper()
			if got := h.Waiting(); got != n {
				t.Errorf("Waiting() %s = %d, want %d", when, got, n)
			}
		}
		<-reading
		want("during the first read", 0)
		proceed <- struct{}{}
		synctest.Wait()
		want("while the call sleeps", 1)
		h.Wake("b")
		<-reading
		want("during the second read", 0)
		proceed <- struct{}{}
		synctest.Wait()
		h.Close()
		ended.Wait()
		want("after the end", 0)
	})
}
