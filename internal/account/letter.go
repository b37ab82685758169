package account

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"net/mail"
	"strings"
	"text/template"
	"time"

	"github.com/gonebox/gonebox/internal/compose"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/problem"
)

// letterTexts are the mails to owners of accounts, one file for each purpose and language: the subject, an empty line, the text. The
// HTML of all of them is made from the text.
//
//go:embed letters/*.txt letters/letter.html
var letterTexts embed.FS

// letterTTL is how long a code or link in a mail is valid. The texts say so too.
const letterTTL = 30 * time.Minute

// Letters are what a Service needs to send mail.
type Letters struct {
	Outbound *outbound.Service // nil: there is no relay
	From     *mail.Address
	Hostname string      // the right part of message identifiers
	BaseURL  string      // begins the links
	Required bool        // an account that registers must confirm its address before it gets keys, domains and webhooks
	Queue    job.Options // of the requests for a new password; all but Kind, LaneMax, Max and Lease
}

// SendBy lets the service send mail. It must be called before the service is used, and not at all without a relay.
func (s *Service) SendBy(l Letters) {
	l.Queue.Kind, l.Queue.LaneMax, l.Queue.Max, l.Queue.Lease = forgottenKind, 1, forgottenMax, forgottenLease
	s.letters, s.forgotten = &l, job.NewQueue(s.db, s.clock, l.Queue)
}

// CheckRelay checks that the service can send mail. Error: relay.missing.
func (s *Service) CheckRelay() error {
	if s.letters == nil {
		return problem.Detailf(problem.RelayMissing, "the operator has set up no relay (relay.url), so that no mail is sent from here")
	}
	return nil
}

// letter is a mail to the owner of an account.
type letter struct {
	purpose outbound.Purpose
	account id.Account
	locale  string
	to      string // as mail is sent to it; see mailable
	code    string // or the token in the link; "": none
	about   string // what a notice is about
	reason  string // of a notice whose text depends on it
}

// sendTx sends a letter if the transaction commits.
func (s *Service) sendTx(ctx context.Context, tx *db.Tx, l letter) error {
	language := languageOf(l.locale)
	subject, text, err := l.text(language, s.letters.BaseURL)
	if err != nil {
		return err
	}
	html, err := l.html(language, subject, text)
	if err != nil {
		return err
	}
	now := s.clock.Now()
	m := compose.Mail{
		From: s.letters.From, To: l.to, Subject: subject, Text: text, HTML: html, Date: now, Automatic: true,
		MessageID: strings.TrimPrefix(string(id.New[id.Event](now)), "evt_") + "@" + s.letters.Hostname,
	}
	var content bytes.Buffer
	if err := m.Write(&content); err != nil {
		return fmt.Errorf("write a mail for %s: %w", l.account, err)
	}
	o := outbound.Mail{Account: l.account, Purpose: l.purpose, To: l.to}
	if l.code != "" {
		o.For = letterTTL
	}
	return s.letters.Outbound.EnqueueTx(ctx, tx, o, content.Bytes())
}

// languageOf returns the language of the letters to an account with a locale: Vietnamese, or English for every other.
func languageOf(locale string) string {
	if locale == "vi" || strings.HasPrefix(locale, "vi-") {
		return "vi"
	}
	return "en"
}

// text returns the subject and the text of a letter in a language.
func (l letter) text(language, baseURL string) (subject, text string, err error) {
	name := fmt.Sprintf("letters/%s.%s.txt", l.purpose, language)
	t, err := template.ParseFS(letterTexts, name)
	if err != nil {
		return "", "", fmt.Errorf("read %s: %w", name, err)
	}
	var whole strings.Builder
	if err := t.Execute(&whole, struct{ Code, About, Reason, BaseURL string }{l.code, l.about, l.reason, baseURL}); err != nil {
		return "", "", fmt.Errorf("fill in %s: %w", name, err)
	}
	subject, text, _ = strings.Cut(whole.String(), "\n\n")
	return subject, text, nil
}
