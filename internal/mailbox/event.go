package mailbox

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
)

// Outbox takes events to those who want to hear of them.
type Outbox interface {
	// PublishTx joins the transaction of what happened.
	PublishTx(ctx context.Context, tx *db.Tx, events ...event.Event) error
}

// PublishTo has the events of accounts' mailboxes told to an outbox. It is called before the service is used.
func (s *Service) PublishTo(o Outbox) { s.outbox = o }

// expireTx ends mailboxes whose time is over.
func (s *Service) expireTx(ctx context.Context, tx *db.Tx, now time.Time, boxes ...*Mailbox) error {
	for _, m := range boxes {
		if err := s.endTx(ctx, tx, m, m.epoch, now); err != nil {
			return err
		}
	}
	return s.tellExpiredTx(ctx, tx, boxes...)
}

func (s *Service) tellExpiredTx(ctx context.Context, tx *db.Tx, boxes ...*Mailbox) error {
	return s.tellTx(ctx, tx, boxes, func(m event.Mailbox) event.Event {
		return event.Event{At: m.ExpiresAt.Time, Data: event.MailboxExpired{Mailbox: m}}
	})
}

func (s *Service) tellCreatedTx(ctx context.Context, tx *db.Tx, boxes ...*Mailbox) error {
	return s.tellTx(ctx, tx, boxes, func(m event.Mailbox) event.Event {
		return event.Event{At: m.CreatedAt.Time, Data: event.MailboxCreated{Mailbox: m}}
	})
}

// tellTx publishes an event of each mailbox that belongs to an account.
func (s *Service) tellTx(ctx context.Context, tx *db.Tx, boxes []*Mailbox, of func(event.Mailbox) event.Event) error {
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
		e := of(m.told(s.clock.Now(), paid[owner]))
		e.Account, e.Domain = owner, m.Owner.Domain
		events = append(events, e)
	}
	if len(events) == 0 {
		return nil
	}
	return s.outbox.PublishTx(ctx, tx, events...)
}

// told is the mailbox as an event shows it.
func (m *Mailbox) told(now time.Time, paid bool) event.Mailbox {
	tier := "free"
	if paid {
		tier = "paid"
	}
	return event.Mailbox{
		ID: m.ID, MailboxID: m.ID, Address: m.Address, LocalPart: m.LocalPart, Domain: m.Domain, Tier: tier, Source: string(m.Source),
		CreatedAt: clock.Stamp{Time: m.CreatedAt}, ExpiresAt: clock.Stamp{Time: m.ExpiresAt},
		TTL: int64((m.TTL(now) + time.Second - 1) / time.Second), MessageCount: m.MessageCount, UnreadCount: m.UnreadCount,
	}
}
