package resource

import (
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

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
	Events         []string     `json:"events"`
	DomainID       *id.Domain   `json:"domainId"`
	Status         string       `json:"status"`
	FailureCount   int          `json:"failureCount"`
	PausedReason   *string      `json:"pausedReason"`
	LastDeliveryAt *clock.Stamp `json:"lastDeliveryAt"`
	CreatedAt      clock.Stamp  `json:"createdAt"`
}
