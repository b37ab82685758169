package ratelimit_test

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"pgregory.net/rapid"
)

// stream is a random sequence of takes under a random window.
type stream struct {
	w     ratelimit.Window
	gaps  []time.Duration
	sizes []int
}

func draw(t *rapid.T) stream {
	w := ratelimit.Window{
		Count: rapid.IntRange(1, 20).Draw(t, "count"),
		Per:   time.Duration(rapid.Int64Range(20, 2e6).Draw(t, "per")) * time.Microsecond,
	}
	gap := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(w.Per)/4).Draw(t, "gap")).Truncate(time.Microsecond)
	})
	n := rapid.IntRange(1, 120).Draw(t, "n")
	return stream{
		w:     w,
		gaps:  rapid.SliceOfN(gap, n, n).Draw(t, "gaps"),
		sizes: rapid.SliceOfN(rapid.IntRange(1, 3), n, n).Draw(t, "sizes"),
	}
}

// A naive model keeps every take that passed and sums up each window: a burst and the refill are at most twice the count.
func TestNoWindowPassesMoreThanTwiceItsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, c := draw(t), clock.NewFake(start)
		l := ratelimit.New(c)
		type passed struct {
			at time.Time
			n  int
		}
		var log []passed
		for i, gap := range s.gaps {
			c.Advance(gap)
			if !l.Take(ratelimit.Other, "a", ratelimit.Limit{s.w}, s.sizes[i]).OK {
				continue
			}
			log = append(log, passed{c.Now(), s.sizes[i]})
			sum := 0
			for _, p := range log {
				if c.Now().Sub(p.at) < s.w.Per {
					sum += p.n
				}
			}
			if sum > 2*s.w.Count {
				t.Fatalf("%d passed within %s, want at most %v", sum, s.w, 2*s.w.Count)
			}
		}
	})
}

func TestTakePassesAfterExactlyRetryAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, c := draw(t), clock.NewFake(start)
		l := ratelimit.New(c)
		lim := ratelimit.Limit{s.w, {Count: 3 * s.w.Count, Per: 7 * s.w.Per}}
		for i, gap := range s.gaps {
			c.Advance(gap)
			n := min(s.sizes[i], s.w.Count)
			d := l.Take(ratelimit.Other, "a", lim, n)
			if d.OK {
				continue
			}
			c.Advance(d.RetryAfter - time.Microsecond)
			if early := l.Take(ratelimit.Other, "a", lim, n); early.OK || early.RetryAfter != time.Microsecond {
				t.Fatalf("Take a microsecond before RetryAfter = %+v, want it refused for a microsecond more", early)
			}
			c.Advance(time.Microsecond)
			if after := l.Take(ratelimit.Other, "a", lim, n); !after.OK {
				t.Fatalf("Take after RetryAfter = %s: %+v, want OK", d.RetryAfter, after)
			}
		}
	})
}

// Remaining pass now and no more, and after Reset one more passes.
func TestRemainingAndResetAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, c := draw(t), clock.NewFake(start)
		l, lim := ratelimit.New(c), ratelimit.Limit{s.w}
		var d ratelimit.Decision
		for i, gap := range s.gaps {
			c.Advance(gap)
			d = l.Take(ratelimit.Other, "a", lim, s.sizes[i])
		}
		if d.Remaining == d.Limit {
			if d.Reset != 0 {
				t.Fatalf("nothing is taken, but: %+v, want Reset 0", d)
			}
			return
		}
		if l.Take(ratelimit.Other, "a", lim, d.Remaining+1).OK {
			t.Fatalf("Take of one more than Remaining passed, want it refused; before it: %+v", d)
		}
		c.Advance(d.Reset - time.Microsecond)
		if l.Take(ratelimit.Other, "a", lim, d.Remaining+1).OK {
			t.Fatalf("Take of one more than Remaining passed before Reset, want it refused; before it: %+v", d)
		}
		c.Advance(time.Microsecond)
		if !l.Take(ratelimit.Other, "a", lim, d.Remaining+1).OK {
			t.Fatalf("Take of one more than Remaining was refused after Reset, want it to pass; before it: %+v", d)
		}
	})
}
