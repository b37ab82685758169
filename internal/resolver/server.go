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

// server is a recursive resolver and the breaker in front of it.
type server struct {
	addr string

	mu         sync.Mutex
	unanswered int // in a row
	retryAt    time.Time
	probing    bool
}

// admit reports whether a query may be sent now. After true, settle must be called.
func (s *server) admit(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unanswered < breakerThreshold {
		return true
	}
	if s.probing || now.Before(s.retryAt) {
		return false
	}
	s.probing = true
	return true
}

// settle records whether an admitted query was answered, be it with a failure.
func (s *server) settle(answered bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.probing = false
	if answered {
		s.unanswered = 0
		return
	}
	s.unanswered++
	s.retryAt = now.Add(breakerPause)
}
