// Package event defines the events of the service, each as a struct. Their names and JSON forms are a public contract
// (docs/spec/webhooks.md#events): fields may be added, but not renamed or removed. The package does not depend on who
// receives events and how they are delivered.
package event

import (
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// Name is the type of an event.
type Name string

// The names of all events.
const (
	MessageReceivedName Name = "message.received"
	OTPExtractedName    Name = "otp.extracted"
	MailboxCreatedName  Name = "mailbox.created"
	MailboxExpiredName  Name = "mailbox.expired"
	DomainVerifiedName  Name = "domain.verified"
	DomainSuspendedName Name = "domain.suspended"
	WebhookPingName     Name = "webhook.ping"
)

// Names returns the names of all events, in the order of the contract.
func Names() []Name {
	return []Name{
		MessageReceivedName, OTPExtractedName, MailboxCreatedName, MailboxExpiredName, DomainVerifiedName, DomainSuspendedName, WebhookPingName,
	}
}

// Data is the content of an event: one of the structs of this package. A subscriber that filters by name compares Name.
type Data interface{ Name() Name }

// Event is something that happened to a resource of an account. It is published in the transaction of the change that
// it reports, so At is the time of the change and not of the delivery.
type Event struct {
	Account id.Account // owner of the resource; guests' resources have no events
	Domain  id.Domain  // the private domain that it happened on; "": none
	At      time.Time
	Data    Data
}

// Body is the JSON form of an event, as webhook endpoints receive it.
type Body struct {
	Type      Name        `json:"type"`
	Timestamp clock.Stamp `json:"timestamp"`
	Data      Data        `json:"data"`
}

// Body returns the JSON form of the event.
func (e Event) Body() Body {
	return Body{Type: e.Data.Name(), Timestamp: clock.Stamp{Time: e.At}, Data: e.Data}
}
