package message

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
)

// Summary returns the summary of the message that a delivery stores.
func (d *Draft) Summary(p Delivery) Summary {
	m := d.summary
	m.ID, m.MailboxID, m.ReceivedAt, m.Tags = p.Message, p.Box, clock.Stamp{Time: p.ReceivedAt}, p.Tags
	if len(m.To) == 0 { // the header names no recipient: show those of the envelope, for this mailbox only
		m.To = fitting(recipients(p.To), toMax, addressLen)
	}
	code := m.OTP
	if p.OTP != nil {
		code = cutLinks(p.OTP)
	}
	if code != nil {
		o := *code
		o.MessageID, o.From, o.Subject, o.ReceivedAt, o.Links = m.ID, m.From, m.Subject, m.ReceivedAt, list(o.Links)
		m.OTP = &o
	}
	return m
}

// Encoded is a summary as it is stored: as JSON, in the form that responses have.
type Encoded struct {
	seen   int64
	stored string // of a message that is not seen
}

// The field seen as it is stored, and as it is shown of a message that was read, both with the name of the field behind it. Within a string
// of JSON a quotation mark is escaped, so it occurs once. The search for it stops at each octet that equals its first, hence a letter and
// not a quotation mark.
const (
	storedSeen = `false,"hasAttachments":`
	shownSeen  = `true,"hasAttachments":`
)

// AppendJSON appends the summary as JSON. A field that a later version adds must be added here to summaries that lack it, with a default.
func (e Encoded) AppendJSON(b []byte) []byte {
	before, after, seen := "", e.stored, false
	if e.seen != 0 {
		before, after, seen = strings.Cut(e.stored, storedSeen)
	}
	if seen {
		b = append(append(b, before...), shownSeen...)
	} else {
		after = e.stored
	}
	return append(b, after...)
}

// hasAction reports whether the message has an action.
func (e Encoded) hasAction() bool { return strings.Contains(e.stored, `,"action":{`) }

// Decode returns the summary.
func (e Encoded) Decode() (m Summary, err error) {
	if err := json.Unmarshal([]byte(e.stored), &m); err != nil {
		return m, fmt.Errorf("decode a summary: %w", err)
	}
	m.Seen = e.seen != 0
	return m, nil
}

// ID returns the identifier of the message.
func (e Encoded) ID() id.Message { return id.Message(strings.Trim(member(e.stored, "id"), `"`)) }

// MailboxID returns the identifier of the mailbox.
func (e Encoded) MailboxID() id.Mailbox {
	return id.Mailbox(strings.Trim(member(e.stored, "mailboxId"), `"`))
}

// code returns the code of the message, "" if it has none.
func (e Encoded) code() EncodedCode {
	code := member(e.stored, "otp")
	if code == "null" {
		return ""
	}
	return EncodedCode(code)
}
