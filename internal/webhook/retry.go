package webhook

import (
	"crypto/rand"
	"encoding/binary"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// pause is how long to wait after a failed attempt: what the schedule says, spread by chance so that deliveries which
// failed together do not come back together, and never less than the endpoint asked for.
func (s *Service) pause(d *Delivery) time.Duration {
	planned := s.Policy.Retries[d.Attempt-1]
	spread := s.Policy.Jitter * (2*s.Chance() - 1)
	planned += time.Duration(spread * float64(planned))
	return max(planned, min(d.retryAfter, s.Policy.RetryAfterMax))
}

// chance is a number of [0, 1).
func chance() float64 {
	const bits = 53 // of a float64's fraction
	var b [8]byte
	rand.Read(b[:]) // never fails, as crypto/rand documents
	return float64(binary.BigEndian.Uint64(b[:])>>(64-bits)) / (1 << bits)
}

// retryAfter reads a Retry-After field (RFC 9110 §10.2.3): seconds, or a date. What is neither, or over, is zero.
func retryAfter(field string, now time.Time) time.Duration {
	field = strings.TrimSpace(field)
	if seconds, err := strconv.ParseUint(field, 10, 64); err == nil {
		const longest = 1 << 32 // more than anybody waits, and less than a duration holds
		return time.Duration(min(seconds, longest)) * time.Second
	}
	if at, err := http.ParseTime(field); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
