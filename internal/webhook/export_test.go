package webhook

import (
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/token"
)

// Signatures is signatures.
func Signatures(ev id.Event, at time.Time, body []byte, secrets ...[]byte) string {
	return signatures(ev, at, body, secrets...)
}

// Send is send.
func Send(client *http.Client, r *http.Request) (*http.Response, error) { return send(client, r) }

// RetryAfter is retryAfter.
func RetryAfter(field string, now time.Time) time.Duration { return retryAfter(field, now) }

// WithoutAddresses is withoutAddresses.
func WithoutAddresses(text string) string { return withoutAddresses(text) }

// RetryDelay is retryDelay after the given number of attempts and with a Retry-After.
func (s *Service) RetryDelay(attempt int, asked time.Duration) time.Duration {
	return s.retryDelay(&Delivery{Attempt: attempt, retryAfter: asked})
}

// Sealed reports whether a secret that is sealed for one endpoint can be opened for it, and for another one.
func Sealed(key [32]byte, secret []byte, one, other id.Webhook) (opens, foreign bool) {
	s, err := token.NewSealer(key)
	if err != nil {
		return false, true
	}
	box := s.Seal(secret, string(one))
	_, own := s.Open(box, string(one))
	_, others := s.Open(box, string(other))
	return own == nil, others == nil
}

// Local reports whether the endpoint's URL was set by a trusted client.
func (e *Endpoint) Local() bool { return e.local }
