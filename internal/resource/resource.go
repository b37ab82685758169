package resource

import (
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// Mailbox is a mailbox. Events show it without its token, which would let an endpoint read mail.
type Mailbox struct {
	ID           id.Mailbox  `json:"id" doc:"The identifier of the mailbox." example:"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Address      string      `json:"address" format:"email" doc:"The address of the mailbox." example:"quiet-otter-4821@gonebox.localhost"`
	LocalPart    string      `json:"localPart" doc:"The part of the address before the @." example:"quiet-otter-4821"`
	Domain       string      `json:"domain" doc:"The domain of the address." example:"gonebox.localhost"`
	CreatedAt    clock.Stamp `json:"createdAt" doc:"When the mailbox was created."`
	ExpiresAt    clock.Stamp `json:"expiresAt" doc:"When the mailbox expires and is erased."`
	TTL          int64       `json:"ttl" doc:"Seconds left."`
	Tier         string      `json:"tier" enum:"free,paid" doc:"Whether the mailbox belongs to a paid plan."`
	Source       string      `json:"source" enum:"guest,session,account,key,catchall,sink" doc:"What created the mailbox."`
	MessageCount int         `json:"messageCount" doc:"The number of messages in the mailbox." example:"3"`
	UnreadCount  int         `json:"unreadCount" doc:"The number of messages that have not been read." example:"1"`
	Token        string      `json:"token,omitempty" doc:"The mailbox token, in responses that have one; absent for developer keys without messages:read, otp:read and mailboxes:write." example:"xm_AQABhT9mZ2lRkq8nD0c3b1YvXw5tJ7uE2sGgHhKkLlMmNn"`
}

// PrivateDomain is a private domain as its owner sees it.
type PrivateDomain struct {
	ID         id.Domain      `json:"id" doc:"The identifier of the domain." example:"dom_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Domain     string         `json:"domain" doc:"In lower-case A-labels." example:"mail.example.org"`
	Status     string         `json:"status" enum:"pending,verified,suspended" doc:"Mail is accepted while the domain is verified."`
	Records    []DomainRecord `json:"records" nullable:"false" doc:"The records that must be in DNS."`
	CreatedAt  clock.Stamp    `json:"createdAt" doc:"When the domain was added."`
	VerifiedAt *clock.Stamp   `json:"verifiedAt" doc:"When it was last verified, or null."`
	CheckedAt  *clock.Stamp   `json:"checkedAt" doc:"When its records were last looked up in DNS successfully, or null."`
}

// DomainRecord is a DNS record of a private domain.
type DomainRecord struct {
	Type     string `json:"type" enum:"TXT,MX" doc:"The type of the record."`
	Name     string `json:"name" doc:"The name of the record." example:"_gonebox.mail.example.org"`
	Value    string `json:"value" doc:"The value that the record must have." example:"gonebox-verify=5f0c1d7ab3e94c2f8a6d0b7e13c95a42"`
	Priority *int   `json:"priority" doc:"Of an MX record; any other value is accepted too. Null for other types."`
	OK       bool   `json:"ok" doc:"Whether it was found by the last lookup."`
}

// Webhook is a webhook endpoint as its owner sees it. Events show it without its secret.
type Webhook struct {
	ID             id.Webhook   `json:"id" doc:"The identifier of the endpoint." example:"whk_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	URL            string       `json:"url" doc:"Where events are sent." example:"https://hooks.example.org/gonebox"`
	Events         []string     `json:"events" nullable:"false" doc:"The events that the endpoint receives."`
	DomainID       *id.Domain   `json:"domainId" nullable:"true" doc:"The private domain whose events it gets, or null for all events." example:"dom_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Status         string       `json:"status" enum:"active,paused" doc:"Paused endpoints receive nothing until they are resumed."`
	FailureCount   int          `json:"failureCount" doc:"Consecutive failed attempts."`
	PausedReason   *string      `json:"pausedReason" nullable:"true" enum:"manual,failures,gone" doc:"Why it is paused, or null."`
	LastDeliveryAt *clock.Stamp `json:"lastDeliveryAt" doc:"When it last accepted an event, or null."`
	CreatedAt      clock.Stamp  `json:"createdAt" doc:"When the endpoint was created."`
	Secret         string       `json:"secret,omitempty" doc:"The signing secret, whsec_ and base64, in responses that show it." example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"`
}
