package apptest

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Clock is the fake clock of a service under test: all its processes show the same time.
type Clock struct {
	t    testing.TB
	fake *clock.Fake
	all  []instance
}

// Now is where the clock stands.
func (c *Clock) Now() time.Time { return c.fake.Now() }

// Advance moves the clock of every process and fires the timers that have come due.
func (c *Clock) Advance(d time.Duration) {
	c.t.Helper()
	for _, i := range c.all {
		if err := i.advance(d); err != nil {
			c.t.Fatalf("move the clock: %v", err)
		}
	}
	if _, here := c.all[0].(*local); !here {
		c.fake.Advance(d)
	}
}

// Waiting is how many timers have neither fired nor been stopped.
func (c *Clock) Waiting() int {
	c.t.Helper()
	n := 0
	for _, i := range c.all {
		each, err := i.count(timers)
		if err != nil {
			c.t.Fatalf("count the timers: %v", err)
		}
		n += each
	}
	return n
}
