// Package message keeps the mail that came in: list and wait, read, the latest code, raw messages and attachments
// (decisions §2 Message, OTP). It refuses to parse mail and to decide who may read it.
package message

import (
	"context"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/wake"
)

// Mailboxes is what messages need of the mailboxes they lie in.
type Mailboxes interface {
	// Live reports whether a mailbox still takes calls: who waits for mail there need not wait on when it does not.
	Live(ctx context.Context, box id.Mailbox) (bool, error)
	// CountTx adds to a mailbox's counts.
	CountTx(ctx context.Context, tx *db.Tx, box id.Mailbox, messages, unread int) error
}

// RawMessages keeps raw messages for their short time.
type RawMessages interface {
	NewReader(ctx context.Context, ref raw.Ref) (*raw.Reader, error) // raw.ErrGone when erased
}

// Policy is the operator's settings.
type Policy struct {
	PreviewLength  int   // characters of text in a summary (decisions §2: 200)
	InlineImageMax int64 // octets of the largest image that is put into the HTML itself (decisions §2: 512 KiB)
}

// Service is the use of messages.
type Service struct {
	db          *db.DB
	clock       clock.Clock
	hub         *wake.Hub
	boxes       Mailboxes
	rawMessages RawMessages
	policy      Policy
	sanitizer   sanitizer
	stager      *blob.Stager
	asides      chan struct{} // see aside
}

// Parts are the dependencies and settings of a Service.
type Parts struct {
	DB          *db.DB
	Clock       clock.Clock
	Wake        *wake.Hub
	Mailboxes   Mailboxes
	RawMessages RawMessages
	Policy      Policy
}

// New returns a Service.
func New(p Parts) *Service {
	return &Service{
		db: p.DB, clock: p.Clock, hub: p.Wake, boxes: p.Mailboxes, rawMessages: p.RawMessages, policy: p.Policy, sanitizer: newSanitizer(),
		stager: blob.NewStager(p.DB), asides: make(chan struct{}, asidesMax),
	}
}

// Address is a mailbox as a header names it.
type Address struct {
	Name    string `json:"name" doc:"The name beside the address, or an empty string."`
	Address string `json:"address" doc:"The address, or an empty string where the sender gave none."`
}

// Summary is a message as a list shows it.
type Summary struct {
	ID             id.Message   `json:"id"`
	MailboxID      id.Mailbox   `json:"mailboxId"`
	From           Address      `json:"from"`
	To             []Address    `json:"to" doc:"The recipients that the header names, tags kept; the envelope's where it names none."`
	Subject        string       `json:"subject"`
	Preview        string       `json:"preview" doc:"The beginning of the text, at most 200 characters."`
	ReceivedAt     clock.Stamp  `json:"receivedAt"`
	SentAt         *clock.Stamp `json:"sentAt" doc:"The sender's Date, or null."`
	Size           int64        `json:"size" doc:"Octets as received."`
	Seen           bool         `json:"seen" doc:"Whether the message was read."`
	HasAttachments bool         `json:"hasAttachments"`
	OTP            *OTP         `json:"otp" doc:"The one-time code of the message, or null."`
}

// OTP is a one-time code that was found in a message.
type OTP struct {
	Code       string      `json:"code" doc:"Ready to paste: ASCII digits without separators, unless letters are in it."`
	Display    string      `json:"display" doc:"The code as the message writes it."`
	MessageID  id.Message  `json:"messageId"`
	From       Address     `json:"from"`
	Subject    string      `json:"subject"`
	ReceivedAt clock.Stamp `json:"receivedAt"`
	Confidence float64     `json:"confidence" minimum:"0" maximum:"1"`
	Source     string      `json:"source" enum:"builtin,filter"`
	FilterID   *string     `json:"filterId" doc:"The filter that found the code, or null."`
	Kind       string      `json:"kind" enum:"numeric,alphanumeric"`
	Links      []string    `json:"links" doc:"Verification and sign-in links of the message, best first."`
}

// Message is a message in full.
type Message struct {
	Summary
	CC             []Address      `json:"cc"`
	ReplyTo        []Address      `json:"replyTo"`
	MessageID      string         `json:"messageId" doc:"The Message-ID header, without angle brackets."`
	Headers        []Header       `json:"headers" doc:"Every header field in order, decoded."`
	Text           string         `json:"text" doc:"The text; that of the HTML where the sender wrote none."`
	HTML           *string        `json:"html" doc:"Safe to render as it is, or null. Remote images keep their address."`
	Attachments    []Attachment   `json:"attachments"`
	Links          []string       `json:"links" doc:"The web addresses in the message, in order."`
	Authentication Authentication `json:"authentication"`
	Envelope       Envelope       `json:"envelope"`
	RawExpiresAt   clock.Stamp    `json:"rawExpiresAt" doc:"After this the raw message is no longer available."`
}

// Header is a field of a message's header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Attachment is a part of a message that is not its text.
type Attachment struct {
	ID          id.Attachment `json:"id"`
	Filename    string        `json:"filename"`
	ContentType string        `json:"contentType" doc:"As the sender declared it: information only."`
	Size        int64         `json:"size"`
	SHA256      string        `json:"sha256" doc:"Of the content, in hex."`
	Inline      bool          `json:"inline"`
	ContentID   *string       `json:"contentId" doc:"What a cid: address in the HTML names, or null."`
	Available   bool          `json:"available" doc:"False where the attachment was above the size limit and not kept."`
}

// Authentication holds the verdicts on the sender (RFC 8601).
type Authentication struct {
	SPF   string `json:"spf" enum:"pass,fail,softfail,neutral,none,temperror,permerror"`
	DKIM  string `json:"dkim" enum:"pass,fail,softfail,neutral,none,temperror,permerror"`
	DMARC string `json:"dmarc" enum:"pass,fail,softfail,neutral,none,temperror,permerror"`
}

// Envelope is what the SMTP session said of the message, as far as it concerns this mailbox.
type Envelope struct {
	From     string   `json:"from" doc:"The reverse-path; empty for a bounce."`
	To       []string `json:"to" doc:"The forward-paths that led to this mailbox, as given."`
	Helo     string   `json:"helo"`
	RemoteIP string   `json:"remoteIp"`
	TLS      bool     `json:"tls" doc:"Whether the message came in over TLS."`
}
