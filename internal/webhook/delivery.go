package webhook

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
)

// ringSize is how many attempts are kept for each endpoint: attempt n replaces attempt n-ringSize in the same row, so
// that the table does not grow and needs no cleaning. It is part of stored data and cannot be changed without a
// migration.
const ringSize = 100

// Delivery is one attempt to deliver an event to an endpoint (docs/spec/webhooks.md#deliveries).
type Delivery struct {
	ID            id.Delivery
	EventID       id.Event
	Event         event.Name
	Attempt       int // from 1
	Succeeded     bool
	HTTPStatus    int           // 0: there was no response
	Error         string        // why it failed, for the owner; "" if it succeeded
	Duration      time.Duration // of the attempt, with the DNS lookup and the connection
	AttemptedAt   time.Time
	NextAttemptAt time.Time // zero: it is not retried, or the endpoint was paused
	ResponseBody  string    // the beginning of the response body, at most Policy.ResponseKept octets

	gone       bool          // the response was 410
	retryAfter time.Duration // the Retry-After of the response; 0: none
}

// Deliveries lists the last 100 attempts of an endpoint, newest first. Error: webhook.not_found.
func (s *Service) Deliveries(ctx context.Context, account id.Account, webhook id.Webhook) ([]*Delivery, error) {
	if _, err := getOwned(ctx, s.DB, account, webhook); err != nil {
		return nil, err
	}
	return deliveries(ctx, s.DB, webhook)
}
