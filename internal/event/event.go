// Package event is what the service tells others of: every event as a struct. The names and the JSON forms are a public
// contract (decisions §2 Webhook endpoint): fields may be added, none is renamed or dropped. It refuses to know who
// listens and how an event travels.
package event

import (
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// Name is the type of an event.
type Name string

// The events of decisions §2.
const (
	MessageReceivedName Name = "message.received"
	OTPExtractedName    Name = "otp.extracted"
	MailboxCreatedName  Name = "mailbox.created"
	MailboxExpiredName  Name = "mailbox.expired"
	DomainVerifiedName  Name = "domain.verified"
	DomainSuspendedName Name = "domain.suspended"
	WebhookPingName     Name = "webhook.ping"
)

// Names lists every event, in the order of the contract.
func Names() []Name {
	return []Name{
		MessageReceivedName, OTPExtractedName, MailboxCreatedName, MailboxExpiredName, DomainVerifiedName, DomainSuspendedName, WebhookPingName,
	}
}

// Known reports whether there is an event of that name.
func (n Name) Known() bool { return slices.Contains(Names(), n) }

// Data is what an event tells: one of the structs of this package.
type Data interface{ Name() Name }

// Event is something that happened to what an account has.
type Event struct {
	Account id.Account // whose it is; what is nobody's has no event
	Domain  id.Domain  // the private domain that it happened on; "": none
	At      time.Time
	Data    Data
}

// Body is an event as its listeners read it.
type Body struct {
	Type      Name        `json:"type"`
	Timestamp clock.Stamp `json:"timestamp"`
	Data      Data        `json:"data"`
}

// Body is the form of the event in which it travels.
func (e Event) Body() Body {
	return Body{Type: e.Data.Name(), Timestamp: clock.Stamp{Time: e.At}, Data: e.Data}
}
