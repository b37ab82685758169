package webhook

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
)

// ringSize is how many attempts are kept of each endpoint (spec §6).
const ringSize = 100

// Delivery is an attempt to tell an endpoint of an event (decisions §2 Webhook endpoint).
type Delivery struct {
	ID            id.Delivery
	EventID       id.Event
	Event         event.Name
	Attempt       int // 1 at the first
	Succeeded     bool
	HTTPStatus    int    // 0: there was no answer
	Error         string // why it failed, for the owner; empty where it succeeded
	Duration      time.Duration
	AttemptedAt   time.Time
	NextAttemptAt time.Time // zero: this was the last, or the endpoint was paused
	Answer        string    // the beginning of the answer's body

	gone       bool          // the answer was 410
	retryAfter time.Duration // what the answer asked for
}

// Deliveries lists the last attempts of an endpoint, newest first. Error: webhook.not_found.
func (s *Service) Deliveries(ctx context.Context, account id.Account, webhook id.Webhook) ([]*Delivery, error) {
	if _, err := owned(ctx, s.DB, account, webhook); err != nil {
		return nil, err
	}
	return deliveries(ctx, s.DB, webhook)
}
