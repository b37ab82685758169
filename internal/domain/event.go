package domain

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/resource"
)

// Outbox enqueues events for subscribed webhook endpoints.
type Outbox interface {
	// PublishTx enqueues events in the transaction of the change.
	PublishTx(ctx context.Context, tx *db.Tx, events ...event.Event) error
}

// PublishTo sets the outbox for events of private domains. It must be called before the service is used.
func (s *Service) PublishTo(o Outbox) { s.outbox = o }

// OnSuspended sets what is called when Recheck suspends a domain, in the transaction that stores it. It must be called before the service
// is used.
func (s *Service) OnSuspended(fn func(ctx context.Context, tx *db.Tx, p *Private) error) {
	s.onSuspended = fn
}

// publishTx publishes an event of a private domain in the transaction of the change. p has the new values; newData makes
// the event's data from them. It does nothing if there is no outbox.
func (s *Service) publishTx(ctx context.Context, tx *db.Tx, p *Private, at time.Time, newData func(resource.PrivateDomain) event.Data) error {
	if s.outbox == nil {
		return nil
	}
	return s.outbox.PublishTx(ctx, tx, event.Event{Account: p.Account, Domain: p.ID, At: at, Data: newData(s.Resource(p))})
}

// Resource returns a private domain as the API and events represent it, with the DNS records that its owner must publish.
func (s *Service) Resource(p *Private) resource.PrivateDomain {
	shown := resource.PrivateDomain{
		ID: p.ID, Domain: p.Name, Status: string(p.Status), CreatedAt: clock.Stamp{Time: p.CreatedAt},
		VerifiedAt: clock.Optional(p.VerifiedAt), CheckedAt: clock.Optional(p.CheckedAt),
	}
	for _, r := range s.Records(p) {
		record := resource.DomainRecord{Type: r.Type, Name: r.Name, Value: r.Value, OK: r.OK}
		if r.Priority != 0 {
			record.Priority = &r.Priority
		}
		shown.Records = append(shown.Records, record)
	}
	return shown
}

func verifiedEvent(d resource.PrivateDomain) event.Data {
	return event.DomainVerified{PrivateDomain: d}
}

func suspendedEvent(d resource.PrivateDomain) event.Data {
	return event.DomainSuspended{PrivateDomain: d}
}
