package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/mail"
	"net/smtp"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

type sendCmd struct {
	To      string   `required:"" placeholder:"ADDRESS" help:"Recipient of the mail."`
	From    string   `default:"test@gonebox.localhost" placeholder:"ADDRESS" help:"Sender of the mail (default ${default})."`
	Server  string   `default:"127.0.0.1:2525" placeholder:"HOST:PORT" help:"SMTP server to send to (default ${default})."`
	Code    string   `placeholder:"TEXT" help:"Code in the mail; default: six random digits, and none with --html or --attach."`
	Subject string   `placeholder:"TEXT" help:"Subject; default: a sentence with the code."`
	HTML    string   `xor:"content" placeholder:"HTML|FILE" help:"Send HTML beside the text: HTML itself, or the name of a file, which has no <."`
	Attach  []string `sep:"none" placeholder:"FILE" help:"Attach a file. May be repeated."`
	EML     string   `name:"eml" xor:"content" placeholder:"FILE" help:"Send a whole mail as it is in a file; - reads standard input."`
	Count   int      `default:"1" placeholder:"N" help:"Number of mails to send, each with a code of its own unless --code is given."`
	JSON    bool     `help:"Print JSON."`
}

// sendTimeout bounds the whole SMTP session of one mail.
const sendTimeout = 30 * time.Second

// testMail is a mail to send: its exported fields are the output with --json, the others its content.
type testMail struct {
	To        string `json:"to"`
	From      string `json:"from"`
	Server    string `json:"server"`
	Code      string `json:"code"`
	Subject   string `json:"subject"`
	MessageID string `json:"messageId"`

	html  string
	files []attachedFile
	eml   []byte // the whole mail, if not nil
}

// Run sends the mails and prints the code of each.
func (s *sendCmd) Run(c *console) error {
	if err := s.check(); err != nil {
		return err
	}
	content, err := s.read(c)
	if err != nil {
		return err
	}
	for range s.Count {
		m, err := s.compose(content)
		if err != nil {
			return err
		}
		if err := s.send(c, m); err != nil {
			return err
		}
		if err := s.print(c, m); err != nil {
			return err
		}
	}
	return nil
}

// send sends one mail in a session of its own. The error names the server.
func (s *sendCmd) send(c *console, m *testMail) error {
	ctx, cancel := context.WithTimeout(c, sendTimeout)
	defer cancel()
	if err := m.deliver(ctx, clock.System().Now()); err != nil {
		return fmt.Errorf("%s: %w", m.Server, cmp.Or(ctx.Err(), err))
	}
	return nil
}

func (s *sendCmd) print(c *console, m *testMail) (err error) {
	switch {
	case s.JSON:
		return printJSON(c.out, m)
	case m.eml != nil:
		_, err = fmt.Fprintf(c.out, "Sent %s to %s via %s.\n", s.EML, m.To, m.Server)
	case m.Code == "":
		_, err = fmt.Fprintf(c.out, "Sent a mail to %s via %s.\n", m.To, m.Server)
	default:
		_, err = fmt.Fprintf(c.out, "Sent the code %s to %s via %s.\n", m.Code, m.To, m.Server)
	}
	return err
}

// check returns a usageError if the flags themselves are wrong. It reads no file.
func (s *sendCmd) check() error {
	for _, address := range []string{s.To, s.From} {
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address {
			return usageError{fmt.Errorf("%q is not a mail address", address)}
		}
	}
	switch {
	case strings.ContainsAny(s.Subject+s.Code, "\r\n"):
		return usageError{errors.New("subject and code must be one line each")}
	case s.Count < 1 || s.Count > maxSent:
		return usageError{fmt.Errorf("--count %d: from 1 to %d mails can be sent", s.Count, maxSent)}
	case s.EML != "" && (s.Subject != "" || s.Code != "" || len(s.Attach) > 0):
		return usageError{errors.New("--eml sends the mail as it is: leave out --subject, --code and --attach")}
	}
	return nil
}

// maxSent bounds --count.
const maxSent = 100_000

// compose returns a mail, with defaults for the flags that are not set. content holds what was read from the files.
func (s *sendCmd) compose(content *testMail) (*testMail, error) {
	m := &testMail{To: s.To, From: s.From, Server: s.Server, Code: s.Code, Subject: s.Subject, html: content.html, files: content.files, eml: content.eml}
	if m.eml != nil {
		return m, nil
	}
	if m.Code == "" && m.html == "" && len(m.files) == 0 {
		n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
		if err != nil {
			return nil, err
		}
		m.Code = fmt.Sprintf("%06d", n)
	}
	switch {
	case m.Subject != "":
	case m.Code == "":
		m.Subject = "Test mail"
	default:
		m.Subject = "Your code is " + m.Code
	}
	_, domain, _ := strings.Cut(m.From, "@")
	m.MessageID = "<" + rand.Text() + "@" + domain + ">"
	return m, nil
}

// deliver sends the mail in one SMTP session (RFC 5321 §3.3), without TLS. The session is aborted when ctx ends:
// net/smtp has no contexts, so the connection is closed.
func (m *testMail) deliver(ctx context.Context, at time.Time) error {
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

// transact sends one mail in an open session. Errors contain the command that was refused and the server's reply.
func (m *testMail) transact(client *smtp.Client, at time.Time) error {
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
	content := m.eml
	if content == nil {
		content = m.text(at)
	}
	if _, err := data.Write(content); err != nil {
		return err
	}
	return data.Close()
}
