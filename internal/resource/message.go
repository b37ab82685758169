// Package resource defines the public JSON forms that several parts of the service share: the responses of the HTTP API, the events
// that webhook endpoints and streams receive, and the message as it is stored. Fields may be added to them, but not renamed or
// removed (docs/spec/conventions.md). The tags doc and example document a field in the OpenAPI document.
package resource

import (
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// Address is a mailbox as a header names it.
type Address struct {
	Name    string `json:"name" doc:"The name beside the address, or an empty string." example:"Quick Shop"`
	Address string `json:"address" doc:"The address, or an empty string where the sender gave none." example:"no-reply@shop.example"`
}

// Summary is a message as a list shows it.
type Summary struct {
	ID             id.Message   `json:"id" doc:"The identifier of the message." example:"msg_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	MailboxID      id.Mailbox   `json:"mailboxId" doc:"The identifier of the mailbox." example:"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	From           Address      `json:"from" doc:"The sender of the From field."`
	To             []Address    `json:"to" doc:"The recipients that the header names, tags kept; the envelope's where it names none."`
	Subject        string       `json:"subject" doc:"The subject." example:"Your sign-in code"`
	Preview        string       `json:"preview" doc:"The beginning of the text, at most 200 characters." example:"Your sign-in code is 246810."`
	ReceivedAt     clock.Stamp  `json:"receivedAt" doc:"When the message was received."`
	HeaderID       string       `json:"-"` // the Message-ID header without angle brackets, cut; "": none
	SentAt         *clock.Stamp `json:"sentAt" doc:"The sender's Date, or null."`
	Size           int64        `json:"size" doc:"Octets as received."`
	Seen           bool         `json:"seen" doc:"Whether the message was read."`
	HasAttachments bool         `json:"hasAttachments" doc:"Whether the message has attachments beside the images that its HTML shows, such as the sender's logo."`
	OTP            *OTP         `json:"otp" doc:"The one-time code of the message, or null."`
	Source         string       `json:"source" enum:"smtp,injected,ingress" doc:"How the message came in: over SMTP, by a call of this API, or by an ingress." example:"smtp"`
	Verified       bool         `json:"verified" doc:"Whether the domain of the sender's address is proven. See authentication of the full message."`
	Action         *Action      `json:"action" doc:"The one link that the message asks its reader to open, or null."`
	Tags           []string     `json:"tags,omitempty" doc:"The tags of the message, sorted; absent where it has none."`
}

// Action is the link that a message asks its reader to open.
type Action struct {
	URL        string  `json:"url" format:"uri" doc:"The address of the link." example:"https://shop.example/verify?t=1"`
	Host       string  `json:"host" doc:"The host that it leads to, in lower case and A-label form." example:"shop.example"`
	Kind       string  `json:"kind" enum:"verify,sign_in,reset,invite,unlock" doc:"What opening it does: it verifies an address or activates an account, signs in, sets a new password, accepts an invitation, or unlocks an account."`
	Confidence float64 `json:"confidence" minimum:"0" maximum:"1" doc:"How certain the extractor is." example:"0.97"`
}

// OTP is a one-time code that was found in a message.
type OTP struct {
	Code       string      `json:"code" doc:"Ready to paste: ASCII digits without separators, unless letters are in it; a phrase is as written." example:"246810"`
	Display    string      `json:"display" doc:"The code as the message writes it." example:"246 810"`
	MessageID  id.Message  `json:"messageId" doc:"The message in which the code was found." example:"msg_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	From       Address     `json:"from" doc:"The sender of that message."`
	Subject    string      `json:"subject" doc:"The subject of that message." example:"Your sign-in code"`
	ReceivedAt clock.Stamp `json:"receivedAt" doc:"When that message was received."`
	Confidence float64     `json:"confidence" minimum:"0" maximum:"1" doc:"How certain the extractor is." example:"0.98"`
	Source     string      `json:"source" enum:"builtin,filter" doc:"Whether the built-in extractor or a filter found the code."`
	FilterID   *string     `json:"filterId" doc:"The filter that found the code, or null." example:"flt_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Kind       string      `json:"kind" enum:"numeric,alphanumeric,phrase" doc:"What the code consists of: digits; letters, or letters and digits; or words."`
	Links      []string    `json:"links" doc:"Verification and sign-in links of the message, best first."`
}

// Message is a message in full.
type Message struct {
	Summary
	Detail
}

// TextSize returns the octets of the message's texts and header fields.
func (m *Message) TextSize() int64 {
	n := len(m.Text)
	if m.HTML != nil {
		n += len(*m.HTML)
	}
	for _, h := range m.Headers {
		n += len(h.Name) + len(h.Value)
	}
	return int64(n)
}

// Detail is what a message in full has beside its summary.
type Detail struct {
	CC             []Address      `json:"cc" doc:"The addresses of the Cc field."`
	ReplyTo        []Address      `json:"replyTo" doc:"The addresses of the Reply-To field."`
	MessageID      string         `json:"messageId" doc:"The Message-ID header, without angle brackets." example:"1a2b3c@shop.example"`
	Headers        []Header       `json:"headers" doc:"Every header field in order, decoded."`
	Text           string         `json:"text" doc:"The text; that of the HTML where the sender wrote none." example:"Your sign-in code is 246810."`
	HTML           *string        `json:"html" doc:"Safe to render as it is, or null. Remote images keep their address." example:"<p>Your sign-in code is <b>246810</b>.</p>"`
	Attachments    []Attachment   `json:"attachments" doc:"The attachments, in the order of the mail."`
	Links          []string       `json:"links" doc:"The web addresses in the message, each once: those of links, then those that stand as text. Those for unsubscribing, preferences and viewing it in a browser come last."`
	BestLink       *string        `json:"bestLink" doc:"What to follow when one waits for a link: that of action, else the first of links that is not a logo's, the front page of a site, or one that unsubscribes, leads to preferences, shows the message in a browser, cancels or reports. Null where there is none." example:"https://shop.example/verify?t=1"`
	Authentication Authentication `json:"authentication" doc:"The results of checking the sender."`
	Envelope       Envelope       `json:"envelope" doc:"What the sending server said before the content."`
	RawExpiresAt   clock.Stamp    `json:"rawExpiresAt" doc:"After this the raw message is no longer available."`
}

// Header is a field of a message's header.
type Header struct {
	Name  string `json:"name" doc:"The name of the header field." example:"Subject"`
	Value string `json:"value" doc:"Its value, unfolded and decoded." example:"Your sign-in code"`
}

// Attachment is a part of a message that is not its text.
type Attachment struct {
	ID          id.Attachment `json:"id" doc:"The identifier of the attachment." example:"att_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Filename    string        `json:"filename" doc:"The name that the sender gave." example:"invoice.pdf"`
	ContentType string        `json:"contentType" doc:"As the sender declared it: information only." example:"application/pdf"`
	Size        int64         `json:"size" doc:"The size in octets." example:"48211"`
	SHA256      string        `json:"sha256" doc:"Of the content, in hex." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Inline      bool          `json:"inline" doc:"Whether the HTML refers to the attachment."`
	ContentID   *string       `json:"contentId" doc:"What a cid: address in the HTML names, or null." example:"logo@example.org"`
	Available   bool          `json:"available" doc:"False where the attachment was above the size limit and not kept."`
}

// Authentication holds the verdicts on the sender (RFC 8601).
type Authentication struct {
	SPF   string `json:"spf" enum:"pass,fail,softfail,neutral,none,temperror,permerror" doc:"The result of SPF (RFC 8601)."`
	DKIM  string `json:"dkim" enum:"pass,fail,softfail,neutral,none,temperror,permerror" doc:"The result of DKIM (RFC 8601)."`
	DMARC string `json:"dmarc" enum:"pass,fail,softfail,neutral,none,temperror,permerror" doc:"The result of DMARC (RFC 8601)."`

	Verified bool    `json:"verified" doc:"Whether the message has exactly one From field with one address, and the domain of that address is proven: by DMARC, or, where it has no DMARC record, by an aligned DKIM or SPF pass."`
	Domain   *string `json:"domain" doc:"The domain that is proven, in lower case and A-label form; null where verified is false." example:"shop.example"`
}

// Envelope is what the SMTP session said of the message, as far as it concerns this mailbox.
type Envelope struct {
	From     string   `json:"from" doc:"The reverse-path; empty for a bounce." example:"bounce@shop.example"`
	To       []string `json:"to" doc:"The forward-paths that led to this mailbox, as given."`
	Helo     string   `json:"helo" doc:"The name that the sending server gave in EHLO or HELO." example:"mx.example.org"`
	RemoteIP string   `json:"remoteIp" doc:"The address of the sending server." example:"192.0.2.25"`
	TLS      bool     `json:"tls" doc:"Whether the message came in over TLS."`
}
