// Package compose writes a mail from its parts (RFC 5322, RFC 2045). It sends nothing and does no I/O.
//
// It is used where a client describes a mail that is then stored as if it had been received: text and HTML become
// multipart/alternative, files are attached, header fields are encoded (RFC 2047). The result depends on the input
// alone, except for the boundaries of multiparts, which are random.
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

// Mail is a mail to write.
type Mail struct {
	From      *mail.Address
	To        string // an address
	Subject   string // without line ends
	Text      string
	HTML      string // "": none
	Files     []File
	Date      time.Time // of the header field
	MessageID string    // without angle brackets
}

// File is an attachment. ContentType is a media type with its parameters, written as it is.
type File struct {
	Name, ContentType string
	Data              []byte
}

// ErrInvalid is wrapped by the errors of mails that cannot be written as they are.
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

// Write appends a mail with CRLF line ends to buf. Nothing that can be read again may be expected in buf after an
// error. The error wraps ErrInvalid. The caller bounds the sizes: the encoded mail is up to three times as long as its
// parts.
func (m *Mail) Write(buf *bytes.Buffer) error {
	msg := gomail.NewMsg(gomail.WithEncoding(gomail.EncodingQP), gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(m.From)
	if err := msg.To(m.To); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	msg.Subject(m.Subject)
	msg.SetDateWithValue(m.Date)
	msg.SetMessageIDWithValue(m.MessageID)
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
