package domain

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
)

// Outbox takes events to those who want to hear of them.
type Outbox interface {
	// PublishTx joins the transaction of what happened.
	PublishTx(ctx context.Context, tx *db.Tx, events ...event.Event) error
}

// PublishTo has the events of private domains told to an outbox. It is called before the service is used.
func (s *Service) PublishTo(o Outbox) { s.outbox = o }

// tellTx publishes an event of a private domain as it is now.
func (s *Service) tellTx(ctx context.Context, tx *db.Tx, p *Private, at time.Time, of func(event.Domain) event.Data) error {
	if s.outbox == nil {
		return nil
	}
	told := event.Domain{
		ID: p.ID, Domain: p.Name, Status: string(p.Status), CreatedAt: clock.Stamp{Time: p.CreatedAt},
		VerifiedAt: clock.Optional(p.VerifiedAt), CheckedAt: clock.Optional(p.CheckedAt),
	}
	for _, r := range s.Records(p) {
		record := event.Record{Type: r.Type, Name: r.Name, Value: r.Value, OK: r.OK}
		if r.Priority != 0 {
			record.Priority = &r.Priority
		}
		told.Records = append(told.Records, record)
	}
	return s.outbox.PublishTx(ctx, tx, event.Event{Account: p.Account, Domain: p.ID, At: at, Data: of(told)})
}

func verified(d event.Domain) event.Data  { return event.DomainVerified{Domain: d} }
func suspended(d event.Domain) event.Data { return event.DomainSuspended{Domain: d} }
