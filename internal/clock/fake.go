package clock

import (
	"sync"
	"time"
)

// Fake is a clock that stands still until a test moves it.
//
// A goroutine that computes a duration from Now, and sets its timer after the clock was advanced, sleeps past the time that the test
// advanced to. A test therefore calls WaitForTimers before Advance.
type Fake struct {
	mu      sync.Mutex // guards all fields
	now     time.Time
	timers  map[*fakeTimer]struct{} // those that have neither fired nor been stopped
	changed chan struct{}           // closed and replaced when a timer is added or removed
}

type fakeTimer struct {
	at time.Time
	c  chan time.Time
}

// NewFake returns a clock that shows t. It is safe for concurrent use.
func NewFake(t time.Time) *Fake {
	return &Fake{now: t.UTC(), timers: make(map[*fakeTimer]struct{}), changed: make(chan struct{})}
}

// Now returns the time that the clock was last advanced to.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance moves the clock forward by d and fires the timers that have come due, in no particular order. It does not
// wait for what they cause.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
	for t := range f.timers {
		f.fire(t)
	}
	f.announce()
}

// NewTimer returns a timer that fires when the clock has been advanced by d.
func (f *Fake) NewTimer(d time.Duration) *Timer {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &fakeTimer{at: f.now.Add(d), c: make(chan time.Time, 1)}
	f.timers[t] = struct{}{}
	f.fire(t)
	f.announce()
	return &Timer{C: t.c, stop: func() { f.stop(t) }}
}

// Waiting returns the number of timers that have neither fired nor been stopped.
func (f *Fake) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.timers)
}

// TB is the part of testing.TB that WaitForTimers needs. Package testing is not imported, since this package is part of the service.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// waitForTimersMax ends a test that hangs. It is long, so that no result depends on the speed of the machine.
const waitForTimersMax = 30 * time.Second

// WaitForTimers returns when exactly n timers have neither fired nor been stopped. It fails the test if that does not happen
// within 30 seconds of real time. A goroutine has a timer while it sleeps and none while it works, so a test that knows how
// many goroutines use the clock calls WaitForTimers before Advance, and again before it checks what they did.
func (f *Fake) WaitForTimers(t TB, n int) {
	t.Helper()
	giveUp := time.NewTimer(waitForTimersMax)
	defer giveUp.Stop()
	for {
		f.mu.Lock()
		waiting, changed := len(f.timers), f.changed
		f.mu.Unlock()
		if waiting == n {
			return
		}
		select {
		case <-changed:
		case <-giveUp.C:
			t.Fatalf("%d timer(s) waiting on the fake clock, want %d", waiting, n)
			return
		}
	}
}

// announce wakes WaitForTimers. The caller holds mu.
func (f *Fake) announce() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// fire fires a timer if it is due. The caller holds mu.
func (f *Fake) fire(t *fakeTimer) {
	if t.at.After(f.now) {
		return
	}
	delete(f.timers, t)
	t.c <- f.now
}

// stop removes a timer.
func (f *Fake) stop(t *fakeTimer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.timers, t)
	f.announce()
}

// Jumping is a Fake that advances to the end of each new timer at once, for tests of one goroutine that waits again and again.
type Jumping struct{ *Fake }

// NewJumping returns a clock that shows t until the first timer is set. It is safe for concurrent use.
func NewJumping(t time.Time) Jumping { return Jumping{NewFake(t)} }

// NewTimer returns a timer that has fired already, and advances the clock by d.
func (j Jumping) NewTimer(d time.Duration) *Timer {
	t := j.Fake.NewTimer(d)
	j.Advance(d)
	return t
}
