package ratelimit

import (
	"context"
	"crypto/sha256"
	"strconv"
	"sync"
	"time"
)

// Ledger is where processes count together.
type Ledger interface {
	// Add moves the theoretical arrival time of each entry, which is now where it lies in the past, by the entry's debt, and
	// returns them in the entries' order. Times are microseconds.
	Add(ctx context.Context, now int64, entries []Entry) (tats []int64, err error)
}

// Entry is what was taken of one window of one limit by one identity.
type Entry struct {
	Key  [16]byte // tells identities apart and does not tell who they are
	Debt int64    // microseconds; may be negative, to give back
}

const (
	shareEvery = 20 * time.Millisecond // how long takes are collected before they are told
	shareMax   = 2 * time.Second       // how long the ledger may take
	tellMax    = 1000                  // entries told at once
)

// smallCount is the count up to which a limit is too small to be told later: what others take meanwhile could be all of it.
const smallCount = 100

// near reports whether a take comes so near to its limit that what others have taken decides: then the ledger is asked
// before the answer. Others are told to it soon after.
func (d Decision) near() bool { return d.Limit <= smallCount || 2*d.Remaining < d.Limit }

// share is what a limiter tells other processes.
type share struct {
	ledger Ledger

	mu      sync.Mutex
	pending map[window]int64 // debts that have not been told
	more    chan struct{}
}

// window is one window of what is counted together.
type window struct {
	key
	index int
	per   time.Duration
}

func (w window) hash() (k [16]byte) {
	sum := sha256.Sum256([]byte(string(w.name) + "\x00" + w.identity + "\x00" + strconv.FormatInt(w.per.Microseconds(), 10)))
	copy(k[:], sum[:])
	return k
}

// Share has the limiter count together with those of other processes. Call it before the limiter is used, and Run beside
// it. Where the ledger does not answer each process counts for itself.
func (l *Limiter) Share(led Ledger) {
	l.share = &share{ledger: led, pending: make(map[window]int64), more: make(chan struct{}, 1)}
}

// Run tells the ledger what was taken, until ctx ends. Without Share there is nothing to tell.
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
		l.tell(ctx)
		rest(ctx, shareEvery)
	}
}

// rest waits for d or the end of ctx.
func rest(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// note keeps what was taken to be told.
func (s *share) note(w window, debt int64) {
	s.mu.Lock()
	s.pending[w] += debt
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *share) take() map[window]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending = make(map[window]int64)
	return taken
}

func (s *share) untold(w window) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending[w]
}

// tell gives the ledger what is pending and takes over what all processes together have taken. What cannot be told is
// forgotten: it counts in this process.
func (l *Limiter) tell(ctx context.Context) {
	var windows []window
	var entries []Entry
	for w, debt := range l.share.take() {
		windows, entries = append(windows, w), append(entries, Entry{w.hash(), debt})
	}
	for len(entries) > 0 {
		n := min(len(entries), tellMax)
		tats, err := l.ask(ctx, entries[:n])
		if err != nil {
			return
		}
		for i, w := range windows[:n] {
			l.set(w, tats[i])
		}
		windows, entries = windows[n:], entries[n:]
	}
}

func (l *Limiter) ask(ctx context.Context, entries []Entry) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, shareMax)
	defer cancel()
	return l.share.ledger.Add(ctx, l.clock.Now().UnixMicro(), entries)
}

// set replaces a time by that of all processes, and what has been taken here since.
func (l *Limiter) set(w window, tat int64) {
	s := l.shard(w.identity)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entry(w.key, w.index+1, l.clock.Now().UnixMicro())[w.index] = tat + l.share.untold(w)
}

// settle enters debts in the ledger, takes over what all processes together have taken, and returns it; nil where the
// ledger does not answer.
func (l *Limiter) settle(k key, lim Limit, debts []int64) (tats []int64) {
	windows, entries := make([]window, len(lim)), make([]Entry, len(lim))
	for i, w := range lim {
		windows[i] = window{k, i, w.Per}
		entries[i] = Entry{windows[i].hash(), debts[i]}
	}
	tats, err := l.ask(context.Background(), entries)
	if err != nil {
		return nil
	}
	for i, w := range windows {
		l.set(w, tats[i])
	}
	return tats
}

// confirm asks the ledger whether a take that passes here passes everywhere. If not it is given back.
func (l *Limiter) confirm(k key, lim Limit, n int, d Decision) Decision {
	debts := make([]int64, len(lim))
	for i, w := range lim {
		debts[i] = int64(n) * w.rule().interval
	}
	tats := l.settle(k, lim, debts)
	now, over := l.clock.Now().UnixMicro(), false
	for i, tat := range tats {
		over = over || tat > now+lim[i].rule().burst
	}
	if !over {
		return d
	}
	refusal := Decision{OK: true, Name: d.Name, Policy: lim}
	for i, w := range lim {
		refusal.weigh(i, w, w.rule().clamp(tats[i]-debts[i], now), now, n)
		debts[i] = -debts[i]
	}
	l.settle(k, lim, debts) // where this fails the identity waits a little longer than it need
	return refusal
}
