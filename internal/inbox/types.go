package inbox

import "time"

// Mailbox is a mailbox, with its token and the URL of its service. A file of the Store is a Mailbox as JSON.
type Mailbox struct {
	URL       string    `json:"url"`
	ID        string    `json:"id"`
	Address   string    `json:"address"`
	Token     string    `json:"token"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Address is the name and address of a sender or recipient.
type Address struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// OTP is a one-time code.
type OTP struct {
	Code string `json:"code"`
}

// Summary is the short form of a message, as lists contain it. OTP is nil if the message has no code, and Action
// if it asks to open no link in particular. Verified means that
// the domain of the sender's address is proven.
type Summary struct {
	ID             string    `json:"id"`
	From           Address   `json:"from"`
	Subject        string    `json:"subject"`
	Preview        string    `json:"preview"`
	ReceivedAt     time.Time `json:"receivedAt"`
	Seen           bool      `json:"seen"`
	HasAttachments bool      `json:"hasAttachments"`
	OTP            *OTP      `json:"otp"`
	Verified       bool      `json:"verified"`
	Action         *Action   `json:"action"`
}

// Action is the link that a message asks its reader to open.
type Action struct {
	URL        string  `json:"url"`
	Host       string  `json:"host"`
	Kind       string  `json:"kind"`
	Confidence float64 `json:"confidence"`
}

// Code returns the one-time code of a message, "" if it has none.
func (s Summary) Code() string {
	if s.OTP == nil {
		return ""
	}
	return s.OTP.Code
}

// Message is a message with its text, links, attachments and the verdicts on its sender.
type Message struct {
	Summary
	To             []Address      `json:"to"`
	Text           string         `json:"text"`
	Links          []string       `json:"links"`
	BestLink       string         `json:"bestLink"` // "" if there is none to follow
	Attachments    []Attachment   `json:"attachments"`
	Authentication Authentication `json:"authentication"`
}

// Authentication has the verdicts on a sender. Domain is the one that is proven, nil if none is.
type Authentication struct {
	SPF      string  `json:"spf"`
	DKIM     string  `json:"dkim"`
	DMARC    string  `json:"dmarc"`
	Verified bool    `json:"verified"`
	Domain   *string `json:"domain"`
}

// Attachment is a file in a message; Size is in octets.
type Attachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"contentType"`
	Size        int64  `json:"size"`
}
