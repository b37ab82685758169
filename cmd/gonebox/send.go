package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"mime"
	"net"
	"net/mail"
	"net/smtp"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

type sendCmd struct {
	To      string `required:"" placeholder:"ADDRESS" help:"Recipient of the mail."`
	From    string `default:"test@gonebox.localhost" placeholder:"ADDRESS" help:"Sender of the mail (default ${default})."`
	Server  string `default:"127.0.0.1:2525" placeholder:"HOST:PORT" help:"SMTP server to send to (default ${default})."`
	Code    string `placeholder:"TEXT" help:"Code in the mail; default: six random digits."`
	Subject string `placeholder:"TEXT" help:"Subject; default: a sentence with the code."`
	JSON    bool   `help:"Print JSON."`
}

// Help is shown below the flags of the command.
func (*sendCmd) Help() string {
	return `Example:
  gonebox send --to quiet-otter-4821@gonebox.localhost --code 246810`
}

// sendTimeout bounds the whole SMTP session.
const sendTimeout = 30 * time.Second

// sent is the output with --json.
type sent struct {
	To        string `json:"to"`
	From      string `json:"from"`
	Server    string `json:"server"`
	Code      string `json:"code"`
	Subject   string `json:"subject"`
	MessageID string `json:"messageId"`
}

// Run sends the mail and prints its code.
func (s *sendCmd) Run(c *console) error {
	m, err := s.compose()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c, sendTimeout)
	defer cancel()
	if err := m.deliver(ctx, clock.System().Now()); err != nil {
		return fmt.Errorf("%s: %w", m.Server, cmp.Or(ctx.Err(), err))
	}
	if s.JSON {
		return printJSON(c.out, m)
	}
	_, err = fmt.Fprintf(c.out, "Sent the code %s to %s via %s.\n", m.Code, m.To, m.Server)
	return err
}

// compose returns the mail, with defaults for what the flags leave out.
func (s *sendCmd) compose() (*sent, error) {
	m := &sent{To: s.To, From: s.From, Server: s.Server, Code: s.Code, Subject: s.Subject}
	for _, address := range []string{m.To, m.From} {
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address {
			return nil, usageError{fmt.Errorf("%q is not a mail address", address)}
		}
	}
	if strings.ContainsAny(m.Subject+m.Code, "\r\n") {
		return nil, usageError{fmt.Errorf("subject and code must be one line each")}
	}
	if m.Code == "" {
		n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
		if err != nil {
			return nil, err
		}
		m.Code = fmt.Sprintf("%06d", n)
	}
	if m.Subject == "" {
		m.Subject = "Your code is " + m.Code
	}
	_, domain, _ := strings.Cut(m.From, "@")
	m.MessageID = "<" + rand.Text() + "@" + domain + ">"
	return m, nil
}

// text returns the mail in the format of RFC 5322.
func (m *sent) text(at time.Time) []byte {
	var b bytes.Buffer
	for _, field := range [][2]string{
		{"From", "Gonebox test <" + m.From + ">"},
		{"To", "<" + m.To + ">"},
		{"Subject", mime.QEncoding.Encode("utf-8", m.Subject)},
		{"Date", at.Format(time.RFC1123Z)},
		{"Message-ID", m.MessageID},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "8bit"},
	} {
		b.WriteString(field[0] + ": " + field[1] + "\r\n")
	}
	b.WriteString("\r\nHello,\r\n\r\nyour verification code is " + m.Code + ".\r\n\r\nThis is a test mail sent by gonebox send.\r\n")
	return b.Bytes()
}

// deliver sends the mail in one SMTP session (RFC 5321 §3.3), which is aborted when ctx ends.
func (m *sent) deliver(ctx context.Context, at time.Time) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.Server)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	host, _, _ := net.SplitHostPort(m.Server)
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	if err := m.transact(client, at); err != nil {
		return err
	}
	return client.Quit()
}

func (m *sent) transact(client *smtp.Client, at time.Time) error {
	if err := client.Mail(m.From); err != nil {
		return fmt.Errorf("MAIL FROM:<%s>: %w", m.From, err)
	}
	if err := client.Rcpt(m.To); err != nil {
		return fmt.Errorf("RCPT TO:<%s>: %w", m.To, err)
	}
	data, err := client.Data()
	if err != nil {
		return fmt.Errorf("DATA: %w", err)
	}
	if _, err := data.Write(m.text(at)); err != nil {
		return err
	}
	return data.Close()
}
