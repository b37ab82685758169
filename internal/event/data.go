package event

import (
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// MessageReceived reports a new message, with its summary.
type MessageReceived struct {
	ID             id.Message   `json:"id"`
	MailboxID      id.Mailbox   `json:"mailboxId"`
	Address        string       `json:"address"` // of the mailbox
	From           Address      `json:"from"`
	To             []Address    `json:"to"`
	Subject        string       `json:"subject"`
	Preview        string       `json:"preview"`
	ReceivedAt     clock.Stamp  `json:"receivedAt"`
	SentAt         *clock.Stamp `json:"sentAt"`
	Size           int64        `json:"size"`
	Seen           bool         `json:"seen"`
	HasAttachments bool         `json:"hasAttachments"`
	OTP            *OTP         `json:"otp"`
	Source         string       `json:"source"` // smtp or injected
}

// OTPExtracted reports a one-time code and the mailbox that received it.
type OTPExtracted struct {
	OTP
	MailboxID id.Mailbox `json:"mailboxId"`
	Address   string     `json:"address"`
}

// MailboxCreated reports a new mailbox, including one that a catch-all opened.
type MailboxCreated struct{ Mailbox }

// MailboxExpired reports an expired mailbox. There is no event for a mailbox that its owner destroyed.
type MailboxExpired struct{ Mailbox }

// DomainVerified reports a private domain whose ownership was verified.
type DomainVerified struct{ Domain }

// DomainSuspended reports a private domain whose MX record has disappeared.
type DomainSuspended struct{ Domain }

// WebhookPing is sent on request, to test an endpoint.
type WebhookPing struct{ Webhook }

// Name is message.received.
func (MessageReceived) Name() Name { return MessageReceivedName }

// Name is otp.extracted.
func (OTPExtracted) Name() Name { return OTPExtractedName }

// Name is mailbox.created.
func (MailboxCreated) Name() Name { return MailboxCreatedName }

// Name is mailbox.expired.
func (MailboxExpired) Name() Name { return MailboxExpiredName }

// Name is domain.verified.
func (DomainVerified) Name() Name { return DomainVerifiedName }

// Name is domain.suspended.
func (DomainSuspended) Name() Name { return DomainSuspendedName }

// Name is webhook.ping.
func (WebhookPing) Name() Name { return WebhookPingName }
