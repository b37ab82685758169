package event

import (
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/resource"
)

// MessageReceived reports a new message, with its summary and the address of its mailbox.
type MessageReceived struct {
	resource.Summary
	Address string `json:"address"`
}

// OTPExtracted reports a one-time code and the mailbox that received it.
type OTPExtracted struct {
	resource.OTP
	MailboxID id.Mailbox `json:"mailboxId"`
	Address   string     `json:"address"`
}

// MailboxCreated reports a new mailbox, including one that a catch-all opened.
type MailboxCreated struct {
	resource.Mailbox
	MailboxID id.Mailbox `json:"mailboxId"` // its identifier, under the name that it has in every event of a mailbox
}

// MailboxExpired reports an expired mailbox. There is no event for a mailbox that its owner destroyed.
type MailboxExpired struct {
	resource.Mailbox
	MailboxID id.Mailbox `json:"mailboxId"`
}

// DomainVerified reports a private domain whose ownership was verified.
type DomainVerified struct{ resource.PrivateDomain }

// DomainSuspended reports a private domain whose MX record has disappeared.
type DomainSuspended struct{ resource.PrivateDomain }

// WebhookPing is sent on request, to test an endpoint.
type WebhookPing struct{ resource.Webhook }

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
