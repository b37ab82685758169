// Package clock is the only place that reads the time, so that a test can move a year in a second.
// It refuses to know what the time is used for.
package clock

import "time"

// Clock tells the time and wakes its caller later.
type Clock interface {
	// Now is the present moment in UTC.
	Now() time.Time
	// NewTimer returns a timer whose channel receives once, when d has passed. A d of zero or less fires at once.
	NewTimer(d time.Duration) *Timer
}

// Timer fires once on C. Stop releases it; a stopped timer never fires.
type Timer struct {
	C    <-chan time.Time
	stop func()
}

// Stop releases the timer. It may be called more than once.
func (t *Timer) Stop() { t.stop() }

// System returns the machine's own clock.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now().UTC() }

func (system) NewTimer(d time.Duration) *Timer {
	t := time.NewTimer(d)
	return &Timer{C: t.C, stop: func() { t.Stop() }}
}
