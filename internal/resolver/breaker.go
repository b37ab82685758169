package resolver

import (
	"sync"
	"time"
)

// A server that left this many queries in a row unanswered is not asked for breakerPause; then one query probes it.
const (
	breakerThreshold = 5
	breakerPause     = 5 * time.Second
)

// breaker makes lookups fail at once while the server does not respond, so that mail is not delayed by a dead resolver.
// The zero value lets queries pass. The mutex guards all fields. A failure that the server reports counts as an
// answer.
type breaker struct {
	mu         sync.Mutex
	unanswered int // in a row
	retryAt    time.Time
	probing    bool
}

// admit reports whether a query may be sent now. After true, settle must be called.
func (b *breaker) admit(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unanswered < breakerThreshold {
		return true
	}
	if b.probing || now.Before(b.retryAt) {
		return false
	}
	b.probing = true
	return true
}

// settle records whether an admitted query was answered, be it with a failure, and reports whether further queries may
// be sent.
func (b *breaker) settle(answered bool, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	if answered {
		b.unanswered = 0
		return true
	}
	b.unanswered++
	b.retryAt = now.Add(breakerPause)
	return b.unanswered < breakerThreshold
}
