package ratelimit

import (
	"context"
	"time"
)

// closeToLimit reports whether the limit is small or at least half used, so that what other processes let pass
// decides. The ledger is then asked before the caller gets its response; otherwise the take is sent to it with the next
// flush.
func (d Decision) closeToLimit() bool { return d.Limit <= smallCount || 2*d.Remaining < d.Limit }

// Share makes the limiter count together with those of other processes. It must be called before the limiter is used,
// and Run must be running. While the ledger does not respond within the timeout each process counts alone.
func (l *Limiter) Share(led Ledger, timeout time.Duration) { l.share = newShare(led, timeout) }

// Run sends what was taken to the ledger until ctx ends. Without Share it returns at once. What is pending when ctx
// ends is not sent: it would delay a shutdown, and is at most 20 ms of calls.
func (l *Limiter) Run(ctx context.Context) {
	if l.share == nil {
		return
	}
	for {
		select {
		case <-l.share.more:
		case <-ctx.Done():
			return
		}
		l.flush(ctx)
		sleep(ctx, flushEvery)
	}
}

// flush sends the pending debts to the ledger and replaces the times of this process by those of all. After an error
// the debts that were not sent are dropped, so that an outage does not fill the memory: they count in this process
// alone.
func (l *Limiter) flush(ctx context.Context) {
	var windows []window
	var entries []Entry
	for w, debt := range l.share.take() {
		windows, entries = append(windows, w), append(entries, Entry{w.hash(), debt})
	}
	for len(entries) > 0 {
		n := min(len(entries), batchMax)
		tats, err := l.post(ctx, entries[:n])
		if err != nil {
			return
		}
		for i, w := range windows[:n] {
			l.replace(w, tats[i])
		}
		windows, entries = windows[n:], entries[n:]
	}
}

// post adds debts in the ledger and returns the resulting times. It waits for at most the timeout of Share.
func (l *Limiter) post(ctx context.Context, entries []Entry) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, l.share.timeout)
	defer cancel()
	return l.share.ledger.Add(ctx, l.clock.Now().UnixMicro(), entries)
}

// replace sets the time of a window to that of all processes, plus what this process has not sent yet. The debt is
// read under the shard's lock, under which take adds to both, so that a concurrent take is counted once.
func (l *Limiter) replace(w window, tat int64) {
	s := l.shard(w.identity)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entry(w.key, w.index+1, l.clock.Now().UnixMicro())[w.index] = tat + l.share.debt(w)
}

// postNow adds debts, one for each window of lim, in the ledger at once, and returns the times of all processes; nil
// if the ledger does not respond.
func (l *Limiter) postNow(k key, lim Limit, debts []int64) (tats []int64) {
	windows, entries := make([]window, len(lim)), make([]Entry, len(lim))
	for i, w := range lim {
		windows[i] = window{k, i, w.Per}
		entries[i] = Entry{windows[i].hash(), debts[i]}
	}
	tats, err := l.post(context.Background(), entries)
	if err != nil {
		return nil
	}
	for i, w := range windows {
		l.replace(w, tats[i])
	}
	return tats
}

// confirm asks the ledger whether a take that passes in this process passes in all of them together. If not, it gives
// the take back and returns the refusal. Two concurrent calls may each see the other's take and both be refused; both
// passing is impossible, since the ledger adds the call before it replies.
func (l *Limiter) confirm(k key, lim Limit, n int, d Decision) Decision {
	debts := make([]int64, len(lim))
	for i, w := range lim {
		debts[i] = int64(n) * w.rule().interval
	}
	tats := l.postNow(k, lim, debts)
	now, over := l.clock.Now().UnixMicro(), false
	for i, tat := range tats {
		over = over || tat > now+lim[i].rule().burst
	}
	if !over {
		return d
	}
	// The times without this take are what the client will find when it calls again.
	refusal := Decision{OK: true, Name: d.Name, Policy: lim}
	for i, w := range lim {
		refusal.consider(i, w, w.rule().clamp(tats[i]-debts[i], now), now, n)
		debts[i] = -debts[i]
	}
	l.postNow(k, lim, debts) // where this fails the identity waits a little longer than necessary
	return refusal
}
