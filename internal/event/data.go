package event

import (
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// MessageReceived tells of a message: its summary, as the list of messages shows it.
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
}

// OTPExtracted tells of a one-time code, with the mailbox that it came to.
type OTPExtracted struct {
	OTP
	MailboxID id.Mailbox `json:"mailboxId"`
	Address   string     `json:"address"`
}

// MailboxCreated tells of a new mailbox, also of one that a catch-all opened.
type MailboxCreated struct{ Mailbox }

// MailboxExpired tells of a mailbox whose time was over. One that was destroyed is its owner's own doing and has no event.
type MailboxExpired struct{ Mailbox }

// DomainVerified tells of a private domain that was proven.
type DomainVerified struct{ Domain }

// DomainSuspended tells of a private domain whose MX record went away.
type DomainSuspended struct{ Domain }

// WebhookPing tells an endpoint of itself.
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
