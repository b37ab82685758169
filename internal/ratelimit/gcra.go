package ratelimit

import "time"

// rule is a window in integers, which are microseconds: the arithmetic is exact and the same on every machine. The SQL
// of package ledger keeps the same theoretical arrival time and computes the same terms.
type rule struct {
	count    int64 // how many pass at once
	interval int64 // between two evenly spread requests, rounded up so that no more than count fit
	burst    int64 // the largest debt: count intervals
}

// rule converts a window. A window outside the bounds of ParseLimit is replaced by the nearest inside, so that code
// that makes a Window itself cannot cause a division by zero or an overflow.
func (w Window) rule() rule {
	per := min(max(w.Per, time.Microsecond), maxPer).Microseconds()
	count := min(max(int64(w.Count), 1), per)
	interval := (per + count - 1) / count
	return rule{count: count, interval: interval, burst: interval * count}
}

// verdict is the result of one request in one window.
type verdict struct {
	ok    bool
	tat   int64 // the new theoretical arrival time if the request passes
	debt  int64 // how long it takes until nothing counts any more, after this verdict
	retry int64 // if not ok: how long until the same request passes, exactly
}

// clamp bounds a theoretical arrival time by a full burst from now. A later one can only come from a clock that was
// set back or from a limit that became tighter; without the bound a client would wait longer than the window allows.
func (r rule) clamp(tat, now int64) int64 { return min(tat, now+r.burst) }

// take is the generic cell rate algorithm (ITU-T I.371 annex A, "virtual scheduling"): tat is the clamped theoretical
// arrival time kept for the identity, 0 if there is none; n requests arrive at the time now. Times are microseconds.
func (r rule) take(tat, now, n int64) verdict {
	// A tat in the past is an unused allowance, which does not accumulate beyond count.
	debt := max(tat-now, 0)
	after := debt + min(n, r.count+1)*r.interval // more than count never passes, and could overflow
	if after <= r.burst {
		return verdict{ok: true, tat: now + after, debt: after}
	}
	return verdict{debt: debt, retry: min(after-r.burst, r.burst)}
}

// remaining returns how many more would pass at once with a debt of 0 to burst.
func (r rule) remaining(debt int64) int64 { return (r.burst - debt) / r.interval }

// reset returns how many microseconds it takes until one more than remaining would pass; 0 without a debt.
func (r rule) reset(debt int64) int64 {
	if debt == 0 {
		return 0
	}
	return (r.remaining(debt)+1)*r.interval - (r.burst - debt)
}
