package gonebox

import (
	"fmt"
	"time"
)

// Address is the name and address of a sender or recipient.
type Address struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// OTP is a one-time code: Code is ready to be typed in, Links are best first, Confidence is from 0 to 1.
type OTP struct {
	Code       string   `json:"code"`
	Display    string   `json:"display"`
	MessageID  string   `json:"messageId"`
	Confidence float64  `json:"confidence"`
	Kind       string   `json:"kind"`
	Links      []string `json:"links"`
}

// Summary is what a list shows of a message. OTP is nil if the message has no code.
type Summary struct {
	ID             string    `json:"id"`
	From           Address   `json:"from"`
	To             []Address `json:"to"`
	Subject        string    `json:"subject"`
	Preview        string    `json:"preview"`
	ReceivedAt     time.Time `json:"receivedAt"`
	Size           int64     `json:"size"`
	Seen           bool      `json:"seen"`
	HasAttachments bool      `json:"hasAttachments"`
	OTP            *OTP      `json:"otp"`
}

func (s Summary) String() string { return fmt.Sprintf("%q from %s", s.Subject, s.From.Address) }

// Message is a whole message. Its HTML is sanitized by the service.
type Message struct {
	Summary
	CC          []Address    `json:"cc"`
	Headers     []Header     `json:"headers"`
	Text        string       `json:"text"`
	HTML        string       `json:"html"`
	Attachments []Attachment `json:"attachments"`
	Links       []string     `json:"links"`
}

// Header is a field of a message's header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Attachment is a file in a message. It is not Available above the size limit of the service.
type Attachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"contentType"`
	Size        int64  `json:"size"`
	SHA256      string `json:"sha256"`
	Inline      bool   `json:"inline"`
	Available   bool   `json:"available"`
}

// Draft is a message to inject. From is "address" or "Name <address>".
type Draft struct {
	From        string `json:"from"`
	Subject     string `json:"subject,omitempty"`
	Text        string `json:"text,omitempty"`
	HTML        string `json:"html,omitempty"`
	Attachments []File `json:"attachments,omitempty"`
}

// File is an attachment of a Draft.
type File struct {
	Filename    string `json:"filename"`
	ContentType string `json:"contentType,omitempty"`
	Content     []byte `json:"content"`
}
