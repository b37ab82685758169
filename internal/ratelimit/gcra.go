package ratelimit

import "time"

// rule is one window in the integers that the arithmetic uses: microseconds. A SQL form of the limiter keeps
// the same column, the theoretical arrival time, and computes the same terms.
type rule struct {
	count    int64 // how many may come at once
	interval int64 // the even distance between two, rounded up so that never more than count fit
	burst    int64 // the debt that count at once make: count intervals
}

// rule brings a window made by hand within the bounds that ParseLimit sets.
func (w Window) rule() rule {
	per := min(max(w.Per, time.Microsecond), maxPer).Microseconds()
	count := min(max(int64(w.Count), 1), per)
	interval := (per + count - 1) / count
	return rule{count: count, interval: interval, burst: interval * count}
}

// verdict is what one window says to one request.
type verdict struct {
	ok    bool
	tat   int64 // the new theoretical arrival time if the request passes
	debt  int64 // how long the window needs to be as fresh as ever, after this verdict
	retry int64 // if not ok: how long until the same request passes, exactly
}

// clamp is the theoretical arrival time to go on with. One further ahead than a full burst can only come from a
// clock set back or a limit made tighter; it becomes a full burst, so that nobody waits longer than the window says.
func (r rule) clamp(tat, now int64) int64 { return min(tat, now+r.burst) }

// take is the generic cell rate algorithm (ITU-T I.371 annex A, "virtual scheduling"): tat is the clamped theoretical
// arrival time kept for the identity, 0 if none is; n requests come at the time now. All are microseconds.
func (r rule) take(tat, now, n int64) verdict {
	debt := max(tat-now, 0)
	after := debt + min(n, r.count+1)*r.interval // what is above count never passes: no need to multiply it
	if after <= r.burst {
		return verdict{ok: true, tat: now + after, debt: after}
	}
	return verdict{debt: debt, retry: min(after-r.burst, r.burst)}
}

// remaining is how many more would pass at once under a debt.
func (r rule) remaining(debt int64) int64 { return (r.burst - debt) / r.interval }

// reset is how long a debt takes to leave room for one more than remaining; 0 where all is free.
func (r rule) reset(debt int64) int64 {
	if debt == 0 {
		return 0
	}
	return (r.remaining(debt)+1)*r.interval - (r.burst - debt)
}
