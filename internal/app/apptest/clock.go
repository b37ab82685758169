package apptest

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Clock is the fake clock of a service under test. All processes of the service show the same time, which stands still
// until the test moves it.
type Clock struct {
	t    testing.TB
	fake *clock.Fake
	all  []instance
}

// awaitMax bounds a test that hangs; no result depends on it.
const awaitMax = 2 * time.Minute

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time { return c.fake.Now() }

// Advance moves the clock of every process and fires the timers that have come due. It first waits until schedules and
// queues are idle: a running task would set its next timer from the new time, and the test would wait for a time that
// never comes.
func (c *Clock) Advance(d time.Duration) {
	c.t.Helper()
	c.await("schedules and queues at work", atWork, 0)
	c.Move(d)
}

// Move is Advance without waiting until the service is idle, for tests that hold a task in progress.
func (c *Clock) Move(d time.Duration) {
	c.t.Helper()
	for _, i := range c.all {
		if err := i.advance(d); err != nil {
			c.t.Fatalf("move the clock: %v", err)
		}
	}
	// With child processes the clock of this process only serves Now.
	if _, here := c.all[0].(*local); !here {
		c.fake.Advance(d)
	}
}

// WaitForTimers waits until n timers of all processes are pending.
func (c *Clock) WaitForTimers(n int) {
	c.t.Helper()
	c.await("timers", timers, n)
}

// await waits until a count over all processes is want. It polls, by the system clock.
func (c *Clock) await(name string, w what, want int) {
	c.t.Helper()
	real := clock.System()
	for deadline := real.Now().Add(awaitMax); ; <-real.NewTimer(time.Millisecond).C { // poll every millisecond
		n := 0
		for _, i := range c.all {
			each, err := i.count(w)
			if err != nil {
				c.t.Fatalf("count %s: %v", name, err)
			}
			n += each
		}
		if n == want {
			return
		}
		if real.Now().After(deadline) {
			c.t.Fatalf("the service has %d %s, want %d", n, name, want)
		}
	}
}
