package gonebox

import (
	"encoding/json"
	"fmt"
	"time"
)

// Address is the name and address of a sender or recipient.
type Address struct{ Name, Address string }

// OTP is a one-time code: Code is ready to be typed in, Display as it is written, Links are best first, Confidence is from 0 to 1.
type OTP struct {
	Code, Display, MessageID, Kind string
	Confidence                     float64
	Links                          []string
}

// Summary is what a list shows of a message. OTP is nil if the message has no code. Size is in octets of the raw
// message.
type Summary struct {
	ID, MailboxID, Subject, Preview string
	From                            Address
	To                              []Address
	ReceivedAt                      time.Time
	Size                            int64
	Seen, HasAttachments            bool
	OTP                             *OTP
}

// String returns the subject and the sender, for messages of failed tests.
func (s Summary) String() string { return fmt.Sprintf("%q from %s", s.Subject, s.From.Address) }

// Message is a whole message. Its HTML is sanitized by the service. Links are the web addresses in the text and the
// HTML.
type Message struct {
	Summary
	CC          []Address
	Headers     []struct{ Name, Value string }
	Text, HTML  string
	Attachments []Attachment
	Links       []string
}

// Attachment is a file in a message. It is not Available above the size limit of the service. Size is in octets; SHA256
// is hexadecimal. Inline means that the HTML refers to it.
type Attachment struct {
	ID, Filename, ContentType, SHA256 string
	Size                              int64
	Inline, Available                 bool
}

// Draft is a message to inject. From is "address" or "Name <address>".
type Draft struct {
	From        string `json:"from"`
	Subject     string `json:"subject,omitempty"`
	Text        string `json:"text,omitempty"`
	HTML        string `json:"html,omitempty"`
	Attachments []File `json:"attachments,omitempty"`
}

// File is an attachment of a Draft. Content is sent as base64.
type File struct {
	Filename    string `json:"filename"`
	ContentType string `json:"contentType,omitempty"`
	Content     []byte `json:"content"`
}

// Event is an event of a mailbox: "message" (with Message), "seen", "deleted", "mailbox" or "end". The message of
// another event is the zero value.
type Event struct {
	Name    string
	Message Summary         // of "message"
	Data    json.RawMessage // of every event
}
