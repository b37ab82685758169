package job

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Signal wakes one goroutine that sleeps, or that is about to. It is safe for concurrent use.
type Signal struct {
	pending atomic.Bool   // set, and not yet cleared by the goroutine that it woke
	c       chan struct{} // has an element if pending is set and the goroutine has not received it; capacity 1
}

// NewSignal returns a signal that is not set.
func NewSignal() *Signal { return &Signal{c: make(chan struct{}, 1)} }

// Set wakes the goroutine. It does not block. Several calls before the goroutine has woken are one.
func (s *Signal) Set() {
	if s.pending.CompareAndSwap(false, true) {
		s.c <- struct{}{} // does not block: the element of the last Set was received before pending was cleared
	}
}

// received returns the channel to receive from, and isSet reports whether Set was called since the last clear. Both work on a
// nil Signal, which is never set.
func (s *Signal) received() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.c
}

func (s *Signal) isSet() bool { return s != nil && s.pending.Load() }

// clear must be called after an element was received, and before what the signal is about is read.
func (s *Signal) clear() { s.pending.Store(false) }

// activity is what a goroutine does, so that a test can tell whether its clock may move: a goroutine that is not asleep
// computes its next time from the current one. The zero value is that of a goroutine that does not run.
type activity struct {
	mu    sync.Mutex // guards the fields
	doing doing
	until time.Time // asleep: when it wakes by the clock; zero: by a signal alone
}

type doing int

const (
	ended doing = iota // or not started
	working
	asleep
)

func (a *activity) set(d doing, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.doing, a.until = d, until
}

// isWorking reports whether the goroutine works, or is about to wake since its time has come.
func (a *activity) isWorking(c clock.Clock) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.doing {
	case working:
		return true
	case asleep:
		return !a.until.IsZero() && !c.Now().Before(a.until)
	}
	return false
}

// Working returns the number of tasks that are not asleep: they run, find out when they are due, or have been woken.
func (s *Schedule) Working() (n int) {
	for _, t := range s.tasks {
		if t.activity.isWorking(s.clock) || t.activity.isAsleep() && t.Wake.isSet() {
			n++
		}
	}
	return n
}

// Working reports whether Run is not asleep: it polls, starts jobs, or has been woken. Jobs that are running do not count.
func (q *Queue) Working() bool {
	return q.activity.isWorking(q.clock) || q.activity.isAsleep() && (q.wakeup.isSet() || q.unread.Load() > 0)
}

func (a *activity) isAsleep() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.doing == asleep
}
