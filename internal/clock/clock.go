// Package clock is the only package that reads the system clock; a test of the house holds that. Code that needs the
// time takes a Clock, for which tests pass a Fake that they advance at will. Stamp is a time in the form of the API.
// The database stores times as microseconds since 1970.
package clock

import "time"

// Clock returns the current time and makes timers.
type Clock interface {
	// Now returns the current time in UTC.
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

// System returns the clock of the operating system.
func System() Clock { return system{} }

// system is the clock of the operating system. Its times have a monotonic reading, so differences are right when the
// clock is set.
type system struct{}

func (system) Now() time.Time { return time.Now().UTC() }

func (system) NewTimer(d time.Duration) *Timer {
	t := time.NewTimer(d)
	return &Timer{C: t.C, stop: func() { t.Stop() }}
}
