package apptest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/smtp"
	"net/textproto"
	"strings"
)

// Mail is a mail to send. Raw, if set, is its content; otherwise the content is made from Subject and Text. Without
// From it is from sender@example.org. Lines may end in LF.
type Mail struct {
	From, Subject, Text string
	To                  []string
	Raw                 []byte
}

// Send sends a mail over SMTP and fails the test if it is refused.
func (s *Service) Send(m Mail) {
	s.t.Helper()
	if err := s.TrySend(m); err != nil {
		s.t.Fatalf("send a mail to %s: %v", strings.Join(m.To, ", "), err)
	}
}

// TrySend sends a mail over SMTP and returns the error if the server refuses it.
func (s *Service) TrySend(m Mail) error {
	if m.From == "" {
		m.From = "sender@example.org"
	}
	if m.Raw == nil {
		m.Raw = fmt.Appendf(nil, "From: Sender <%s>\r\nTo: %s\r\nSubject: %s\r\nDate: Sat, 14 Mar 2026 11:59:00 +0000\r\n"+
			"Message-ID: <test@example.org>\r\n\r\n%s\r\n", m.From, strings.Join(m.To, ", "), m.Subject, strings.ReplaceAll(m.Text, "\n", "\r\n"))
	}
	return send(s.next().SMTP, m)
}

// send does what smtp.SendMail does on a connection without TLS. It writes the content at once, since that of net/smtp
// goes octet by octet, which takes seconds for a large mail under the race detector.
func send(addr string, m Mail) error {
	c, err := smtp.Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Mail(m.From); err != nil {
		return err
	}
	for _, to := range m.To {
		if err := c.Rcpt(to); err != nil {
			return err
		}
	}
	if err := exchange(c.Text, 354, "DATA"); err != nil {
		return err
	}
	if err := exchange(c.Text, 250, "%s.", stuffed(m.Raw)); err != nil {
		return err
	}
	return c.Quit()
}

// exchange sends a line, or the lines of a mail, and reads a reply that must have the code.
func exchange(c *textproto.Conn, code int, format string, args ...any) error {
	if err := c.PrintfLine(format, args...); err != nil {
		return err
	}
	_, _, err := c.ReadResponse(code)
	return err
}

// stuffed returns a mail as it is sent: in lines that end in CRLF, with dots doubled at their beginning (RFC 5321 §4.5.2).
func stuffed(raw []byte) []byte {
	lines := bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	if !bytes.HasSuffix(lines, []byte("\r\n")) {
		lines = append(lines, "\r\n"...)
	}
	return bytes.ReplaceAll(append([]byte("\r\n"), lines...), []byte("\r\n."), []byte("\r\n.."))[len("\r\n"):]
}

// Base64Lines returns the base64 of octets in lines of 76 characters that end in CRLF, as in a mail (RFC 2045 §6.8).
func Base64Lines(octets []byte) string {
	const lineLength = 76
	text := base64.StdEncoding.EncodeToString(octets)
	var b strings.Builder
	b.Grow(len(text) + (len(text)/lineLength+1)*len("\r\n"))
	for text != "" {
		n := min(lineLength, len(text))
		b.WriteString(text[:n] + "\r\n")
		text = text[n:]
	}
	return b.String()
}
