package clock

import (
	"sync"
	"time"
)

// Fake is a clock that stands still until a test moves it.
type Fake struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*fakeTimer]struct{}
}

type fakeTimer struct {
	at time.Time
	c  chan time.Time
}

// NewFake returns a clock that shows t.
func NewFake(t time.Time) *Fake {
	return &Fake{now: t.UTC(), timers: make(map[*fakeTimer]struct{})}
}

// Now is the moment the fake was last moved to.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance moves the clock forward by d and fires the timers that have come due.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
	for t := range f.timers {
		f.fire(t)
	}
}

// NewTimer returns a timer that fires when the clock has been advanced by d.
func (f *Fake) NewTimer(d time.Duration) *Timer {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &fakeTimer{at: f.now.Add(d), c: make(chan time.Time, 1)}
	f.timers[t] = struct{}{}
	f.fire(t)
	return &Timer{C: t.c, stop: func() { f.stop(t) }}
}

// Waiting is the number of timers that have neither fired nor been stopped: a test waits for it before it advances.
func (f *Fake) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.timers)
}

func (f *Fake) fire(t *fakeTimer) {
	if t.at.After(f.now) {
		return
	}
	delete(f.timers, t)
	t.c <- f.now
}

func (f *Fake) stop(t *fakeTimer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.timers, t)
}
