package webhook

import (
	"crypto/rand"
	"encoding/binary"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryDelay returns how long to wait after the failed attempt d, which must not be the last one: the wait of
// Policy.Retries with a random jitter, so that deliveries that failed together are not retried together. If the
// endpoint's Retry-After is longer, that is used, up to Policy.RetryAfterMax.
func (s *Service) retryDelay(d *Delivery) time.Duration {
	planned := s.Policy.Retries[d.Attempt-1]
	spread := s.Policy.Jitter * (2*s.Chance() - 1)
	planned += time.Duration(spread * float64(planned))
	return max(planned, min(d.retryAfter, s.Policy.RetryAfterMax))
}

// chance returns a random number in [0, 1).
func chance() float64 {
	const bits = 53 // the precision of a float64
	var b [8]byte
	rand.Read(b[:]) // never fails, as crypto/rand documents
	return float64(binary.BigEndian.Uint64(b[:])>>(64-bits)) / (1 << bits)
}

// retryAfter parses a Retry-After field (RFC 9110 §10.2.3): seconds, or a date. It returns 0 for anything else, and for a
// date in the past.
func retryAfter(field string, now time.Time) time.Duration {
	field = strings.TrimSpace(field)
	if seconds, err := strconv.ParseUint(field, 10, 64); err == nil {
		const longest = 1 << 32 // longer than any wait, and within the range of time.Duration
		return time.Duration(min(seconds, longest)) * time.Second
	}
	if at, err := http.ParseTime(field); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
