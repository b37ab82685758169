package apptest

import (
	"fmt"
	"net/smtp"
	"strings"
)

// Mail is a mail to send. Raw, if set, is its content; otherwise the content is made from Subject and Text.
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
	return smtp.SendMail(s.next().SMTP, nil, m.From, m.To, m.Raw)
}
