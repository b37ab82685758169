// Package compose encodes a mail (RFC 5322, RFC 2045) from its text, HTML and attachments. It sends nothing and does no
// I/O.
//
// It is for mails that a client describes through the API, which are then stored as if they had been received. Text and
// HTML become multipart/alternative, and header fields are encoded (RFC 2047). The same Mail always results in the same
// octets, except for the multipart boundaries, which are random.
package compose

import (
	"bytes"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// Mail is the input of Write.
type Mail struct {
	From      *mail.Address
	To        string // an address
	Subject   string // without line ends
	Text      string
	HTML      string // "": none
	Files     []File
	Date      time.Time // of the Date header field
	MessageID string    // without angle brackets
	Automatic bool      // no person writes it, so that nothing automatic should answer (RFC 3834 §5)
}

// File is an attachment. ContentType is a media type with its parameters. It is written as it is.
type File struct {
	Name, ContentType string
	Data              []byte
}

// ErrInvalid is wrapped by all errors of this package. The client's input is at fault: a mail with it cannot be encoded.
var ErrInvalid = errors.New("not a valid mail")

// ParseFrom parses a sender, which is an address or a name followed by an address in angle brackets. Error: ErrInvalid.
func ParseFrom(text string) (*mail.Address, error) {
	if strings.ContainsAny(text, "\r\n\x00") {
		return nil, fmt.Errorf("%w: a line end in the sender", ErrInvalid)
	}
	a, err := mail.ParseAddress(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return a, nil
}

// Write appends the encoded mail, with CRLF line ends, to buf. Error: ErrInvalid, after which buf may hold a part of the
// mail. Write does not limit sizes, so the caller must: in quoted-printable an octet becomes up to three.
func (m *Mail) Write(buf *bytes.Buffer) error {
	msg := gomail.NewMsg(gomail.WithEncoding(gomail.EncodingQP), gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(m.From)
	if err := msg.To(m.To); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	msg.Subject(m.Subject)
	msg.SetDateWithValue(m.Date)
	msg.SetMessageIDWithValue(m.MessageID)
	if m.Automatic {
		msg.SetGenHeader("Auto-Submitted", "auto-generated")
	}
	switch {
	case m.HTML == "":
		msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	case m.Text == "":
		msg.SetBodyString(gomail.TypeTextHTML, m.HTML)
	default:
		msg.SetBodyString(gomail.TypeTextPlain, m.Text)
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	for _, f := range m.Files {
		msg.AttachReadSeeker(f.Name, bytes.NewReader(f.Data), gomail.WithFileContentType(gomail.ContentType(f.ContentType)))
	}
	if _, err := msg.WriteTo(buf); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}
