package gonebox

import (
	"encoding/json"
	"fmt"
	"time"
)

// Address is the name and address of a sender or recipient.
type Address struct{ Name, Address string }

// OTP is a one-time code: Code is ready to be typed in, Display as it is written, Links are best first, Confidence is from 0 to 1.
// Kind is numeric, alphanumeric or phrase. MessageID, From, Subject and ReceivedAt are those of the message. Source is
// builtin, or filter for a code that the filter FilterID found.
type OTP struct {
	Code, Display, MessageID, Kind string
	Confidence                     float64
	Links                          []string
	From                           Address
	Subject                        string
	ReceivedAt                     time.Time
	Source, FilterID               string
}

// Summary is what a list shows of a message. Address is that of the mailbox, and Project the name of the project whose
// mailbox it is, in lists of an account. OTP is nil if the message has no code. Size is in octets of the raw message. SentAt
// is the Date of the sender, or the zero Time. Source is smtp, injected or ingress. Verified means that the domain of the
// sender's address is proven. Action is nil if the message asks to open no link in particular. Tags are sorted; a message
// without any has none.
type Summary struct {
	ID, MailboxID, Subject, Preview string
	Address, Project, Source        string
	From                            Address
	To                              []Address
	ReceivedAt, SentAt              time.Time
	Size                            int64
	Seen, HasAttachments, Verified  bool
	OTP                             *OTP
	Action                          *Action
	Tags                            []string
}

// Action is the link that a message asks its reader to open. Host is where it leads to. Kind is verify, sign_in, reset,
// invite or unlock. Confidence is between 0 and 1.
type Action struct {
	URL, Host, Kind string
	Confidence      float64
}

// String returns the subject and the sender, for messages of failed tests.
func (s Summary) String() string { return fmt.Sprintf("%q from %s", s.Subject, s.From.Address) }

// Authentication has the verdicts on the sender (RFC 8601). Verified means that Domain, that of the only address in From,
// is proven; Domain is empty otherwise.
type Authentication struct {
	SPF, DKIM, DMARC string
	Verified         bool
	Domain           string
}

// Envelope is how a message came: the reverse-path, the forward-paths that led to its mailbox, and the client, with the
// argument of its EHLO. From is empty for bounces and injected messages.
type Envelope struct {
	From           string
	To             []string
	Helo, RemoteIP string
	TLS            bool
}

// Message is a whole message. Its HTML is sanitized by the service. Links are the web addresses in the text and the
// HTML. MessageID is the header field, without angle brackets. The raw message is available until RawExpiresAt.
type Message struct {
	Summary
	MessageID    string
	ReplyTo      []Address
	Envelope     Envelope
	RawExpiresAt time.Time

	CC          []Address
	Headers     []struct{ Name, Value string }
	Text, HTML  string
	Attachments []Attachment
	Links       []string
	BestLink    string // what WaitForLink returns: the link of Action, else the first to follow; "" if there is none

	Authentication Authentication
}

// Attachment is a file in a message. It is not Available above the size limit of the service. Size is in octets; SHA256
// is hexadecimal. Inline means that the HTML refers to it, by ContentID.
type Attachment struct {
	ID, Filename, ContentType, SHA256, ContentID string
	Size                                         int64
	Inline, Available                            bool
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

// Event is an event of a mailbox: "message" (with Message), "seen", "deleted", "tagged", "mailbox" or "end". The message of
// another event is the zero value.
type Event struct {
	Name    string
	Message Summary         // of "message"
	Data    json.RawMessage // of every event
}

// Checks says how a message will fare in mail clients. Score is from 0 to 100. ClientsAsOf is the day of the data about
// clients, like 2026-01-31.
type Checks struct {
	Score       float64
	ClientsAsOf string
	Warnings    []Warning
}

// Warning is one thing that may go wrong with a message. Line is the line of the HTML that shows it first, or 0. Clients do
// not support the feature with the name Feature.
type Warning struct {
	Code, Title, Detail, Feature string
	Line                         int
	Clients                      []string
}

// Transcript is the SMTP dialog of a mail, without credentials and content.
type Transcript struct {
	At      time.Time
	Project string // "": the sink
	From    string
	To      []string // also those that were refused
	Refused bool     // a command was refused
	Lines   []TranscriptLine
}

// TranscriptLine is a line of a dialog. From is "client" or "server".
type TranscriptLine struct {
	At         time.Time
	From, Text string
}

// Diagnosis says why a wait found nothing. Causes begins with the likeliest.
type Diagnosis struct {
	Summary string
	Causes  []Cause
}

// Cause is one thing that happened instead of what was waited for. Code is one of those that docs/spec/messages.md in the
// source lists, such as filtered and no_code. Address and MessageID may be "".
type Cause struct {
	Code, Detail, Address, MessageID string
	At                               time.Time
}
