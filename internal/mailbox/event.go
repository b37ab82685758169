package mailbox

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/resource"
)

// Outbox enqueues events for subscribed webhook endpoints.
type Outbox interface {
	// PublishTx enqueues in the transaction of what the events report.
	PublishTx(ctx context.Context, tx *db.Tx, events ...event.Event) error
}

// expireTx ends expired mailboxes and publishes mailbox.expired.
func (s *Service) expireTx(ctx context.Context, tx *db.Tx, now time.Time, boxes ...*Mailbox) error {
	for _, m := range boxes {
		if err := s.endTx(ctx, tx, m, m.epoch, now); err != nil {
			return err
		}
	}
	return s.publishExpiredTx(ctx, tx, boxes...)
}

func (s *Service) publishExpiredTx(ctx context.Context, tx *db.Tx, boxes ...*Mailbox) error {
	return s.publishTx(ctx, tx, boxes, func(m resource.Mailbox) event.Event {
		return event.Event{At: m.ExpiresAt.Time, Data: event.MailboxExpired{Mailbox: m, MailboxID: m.ID}}
	})
}

func (s *Service) publishCreatedTx(ctx context.Context, tx *db.Tx, boxes ...*Mailbox) error {
	return s.publishTx(ctx, tx, boxes, func(m resource.Mailbox) event.Event {
		return event.Event{At: m.CreatedAt.Time, Data: event.MailboxCreated{Mailbox: m, MailboxID: m.ID}}
	})
}

// publishTx publishes an event, which of builds, for each mailbox that belongs to an account.
func (s *Service) publishTx(ctx context.Context, tx *db.Tx, boxes []*Mailbox, of func(resource.Mailbox) event.Event) error {
	if s.outbox == nil {
		return nil
	}
	var events []event.Event
	paid := make(map[id.Account]bool)
	for _, m := range boxes {
		owner := m.Owner.Account
		if owner == "" {
			continue
		}
		if _, known := paid[owner]; !known {
			limits, err := s.plans.MailboxLimits(ctx, owner)
			if err != nil {
				return err
			}
			paid[owner] = limits.Paid
		}
		e := of(m.Resource(s.clock.Now(), paid[owner]))
		e.Account, e.Domain = owner, m.Owner.Domain
		events = append(events, e)
	}
	if len(events) == 0 {
		return nil
	}
	return s.outbox.PublishTx(ctx, tx, events...)
}

// Resource returns the mailbox as the API and events represent it at the time now, without a token. paid reports whether the
// plan of its owner costs money. The seconds left to live are rounded up, so that they are not 0 before the mailbox expires.
func (m *Mailbox) Resource(now time.Time, paid bool) resource.Mailbox {
	tier := "free"
	if paid {
		tier = "paid"
	}
	return resource.Mailbox{
		ID: m.ID, Address: m.Address, LocalPart: m.LocalPart, Domain: m.Domain, Tier: tier, Source: string(m.Source),
		CreatedAt: clock.Stamp{Time: m.CreatedAt}, ExpiresAt: clock.Stamp{Time: m.ExpiresAt},
		TTL: clock.Seconds(m.TTL(now)), MessageCount: m.MessageCount, UnreadCount: m.UnreadCount,
	}
}
