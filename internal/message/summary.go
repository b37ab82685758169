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
	m.ID, m.MailboxID, m.ReceivedAt = p.Message, p.Box, clock.Stamp{Time: p.ReceivedAt}
	if len(m.To) == 0 { // a header without To: what the envelope said of this mailbox
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

// Encoded is a summary as it is stored: the JSON of a Summary that is not seen.
type Encoded struct {
	ID   id.Message
	Seen bool
	JSON string
}

// Decode returns the summary.
func (e Encoded) Decode() (m Summary, err error) {
	if err := json.Unmarshal([]byte(e.JSON), &m); err != nil {
		return m, fmt.Errorf("decode the summary of %s: %w", e.ID, err)
	}
	m.Seen = e.Seen
	return m, nil
}

// code returns the code of the message, "" if it has none.
func (e Encoded) code() EncodedCode {
	code := member(e.JSON, "otp")
	if code == "null" {
		return ""
	}
	return EncodedCode(code)
}

// The field seen as it is stored, and as it is shown of a message that was read. Within a string of JSON a quotation mark is escaped,
// so it occurs once.
const (
	storedSeen = `"seen":false`
	shownSeen  = `"seen":true`
)

// AppendJSON appends the summary as JSON.
func (e Encoded) AppendJSON(b []byte) []byte {
	if e.Seen {
		if before, after, ok := strings.Cut(e.JSON, storedSeen); ok {
			return append(append(append(b, before...), shownSeen...), after...)
		}
	}
	return append(b, e.JSON...)
}
