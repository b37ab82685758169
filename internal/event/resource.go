package event

import (
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// The resources below have the fields of the API (docs/spec/webhooks.md#events).

// Address is a mailbox as a header names it.
type Address struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// OTP is a one-time code that was found in a message.
type OTP struct {
	Code       string      `json:"code"`
	Display    string      `json:"display"`
	MessageID  id.Message  `json:"messageId"`
	From       Address     `json:"from"`
	Subject    string      `json:"subject"`
	ReceivedAt clock.Stamp `json:"receivedAt"`
	Confidence float64     `json:"confidence"`
	Source     string      `json:"source"`
	FilterID   *string     `json:"filterId"`
	Kind       string      `json:"kind"`
	Links      []string    `json:"links"`
}

// Mailbox is a mailbox, without its token, which would let an endpoint read mail.
type Mailbox struct {
	ID           id.Mailbox  `json:"id"`
	MailboxID    id.Mailbox  `json:"mailboxId"` // the same, under the name it has in every event of a mailbox
	Address      string      `json:"address"`
	LocalPart    string      `json:"localPart"`
	Domain       string      `json:"domain"`
	CreatedAt    clock.Stamp `json:"createdAt"`
	ExpiresAt    clock.Stamp `json:"expiresAt"`
	TTL          int64       `json:"ttl"`    // seconds left
	Tier         string      `json:"tier"`   // free, paid
	Source       string      `json:"source"` // account, key, catchall, sink
	MessageCount int         `json:"messageCount"`
	UnreadCount  int         `json:"unreadCount"`
}

// Domain is a private domain.
type Domain struct {
	ID         id.Domain    `json:"id"`
	Domain     string       `json:"domain"`
	Status     string       `json:"status"`
	Records    []Record     `json:"records"`
	CreatedAt  clock.Stamp  `json:"createdAt"`
	VerifiedAt *clock.Stamp `json:"verifiedAt"`
	CheckedAt  *clock.Stamp `json:"checkedAt"`
}

// Record is a DNS record of a private domain.
type Record struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Value    string `json:"value"`
	Priority *int   `json:"priority"`
	OK       bool   `json:"ok"`
}

// Webhook is a webhook endpoint, without its secret.
type Webhook struct {
	ID             id.Webhook   `json:"id"`
	URL            string       `json:"url"`
	Events         []Name       `json:"events"`
	DomainID       *id.Domain   `json:"domainId"`
	Status         string       `json:"status"`
	FailureCount   int          `json:"failureCount"`
	PausedReason   *string      `json:"pausedReason"`
	LastDeliveryAt *clock.Stamp `json:"lastDeliveryAt"`
	CreatedAt      clock.Stamp  `json:"createdAt"`
}
