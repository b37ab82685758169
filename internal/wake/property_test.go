package wake_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/wake"
	"pgregory.net/rapid"
)

// script is one interleaving: what happens before, during and after each read of a sleeper.
type script struct {
	target  int             // the sleeper waits for this many changes
	during  []int           // changes made inside read n, after the value was taken: the gap where a wake-up can be lost
	between []time.Duration // pauses before each of the other changes
	spare   []int           // wake-ups without a change, inside read n
}

// No wake-up is lost: whenever the last change comes, the sleeper answers at that very moment, never at its timeout.
func TestNoWakeUpIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := script{
			target:  rapid.IntRange(1, 12).Draw(rt, "target"),
			during:  rapid.SliceOfN(rapid.IntRange(0, 3), 0, 6).Draw(rt, "during"),
			spare:   rapid.SliceOfN(rapid.IntRange(0, 3), 0, 6).Draw(rt, "spare"),
			between: rapid.SliceOfN(rapid.Custom(pause), 12, 12).Draw(rt, "between"),
		}
		var fault error
		synctest.Test(t, func(t *testing.T) { fault = s.play(t.Context()) })
		if fault != nil {
			rt.Fatal(fault)
		}
	})
}

func pause(rt *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(0, 2).Draw(rt, "seconds")) * time.Second
}

func (s script) play(ctx context.Context) error {
	h, changes := wake.New(), atomic.Int64{}
	var last atomic.Pointer[time.Time]
	change := func() {
		if now := time.Now(); changes.Add(1) == int64(s.target) {
			last.Store(&now)
		}
		h.Wake("k")
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range s.target {
			time.Sleep(s.between[i])
			change()
		}
	})
	reads := 0
	got, err := wake.Until(ctx, h, "k", time.Hour, func(context.Context) (int64, bool, error) {
		seen := changes.Load()
		for range at(s.during, reads) {
			change()
		}
		for range at(s.spare, reads) {
			h.Wake("k")
		}
		reads++
		return seen, seen >= int64(s.target), nil
	})
	answered := time.Now()
	writer.Wait()
	if err != nil || got < int64(s.target) || !answered.Equal(*last.Load()) {
		return fmt.Errorf("answered %d of %d (%v) at %s, the change came at %s", got, s.target, err, answered, last.Load())
	}
	return nil
}

func at(n []int, i int) int {
	if i < len(n) {
		return n[i]
	}
	return 0
}

// Many sleepers and writers in real time, for the race detector: everyone must see every change of their key.
func TestSleepersSeeConcurrentWrites(t *testing.T) {
	const keys, sleepersPerKey, changes = 8, 8, 200
	h := wake.New()
	var counters [keys]atomic.Int64
	var all sync.WaitGroup
	for k := range keys {
		key := fmt.Sprint("key", k)
		for range sleepersPerKey {
			all.Go(func() {
				for seen := int64(0); seen < changes; {
					now, err := wake.Until(t.Context(), h, key, time.Hour, func(context.Context) (int64, bool, error) {
						n := counters[k].Load()
						return n, n > seen, nil
					})
					if err != nil || now <= seen {
						t.Errorf("Until = %d, %v, want more than %d", now, err, seen)
						return
					}
					seen = now
				}
			})
		}
		all.Go(func() {
			for range changes {
				counters[k].Add(1)
				h.Wake(key)
			}
		})
	}
	all.Wait()
	if h.Sleepers() != 0 {
		t.Errorf("Sleepers() = %d, want 0", h.Sleepers())
	}
}

func BenchmarkWakeWithoutSleepers(b *testing.B) {
	h := wake.New()
	for b.Loop() {
		h.Wake("mailbox")
	}
}

// BenchmarkWakeBesideACrowd wakes one key while ten thousand sleep on others.
func BenchmarkWakeBesideACrowd(b *testing.B) {
	h := wake.New()
	var crowd sync.WaitGroup
	for i := range 10_000 {
		crowd.Go(func() {
			wake.Until(b.Context(), h, fmt.Sprint(i), time.Hour, func(context.Context) (int, bool, error) { return 0, false, nil })
		})
	}
	for b.Loop() {
		h.Wake("mailbox")
	}
	h.Close()
	crowd.Wait()
}

func BenchmarkUntilDone(b *testing.B) {
	h := wake.New()
	b.ReportAllocs()
	for b.Loop() {
		wake.Until(b.Context(), h, "k", time.Hour, func(context.Context) (int, bool, error) { return 0, true, nil })
	}
}
