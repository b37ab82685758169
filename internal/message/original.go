package message

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/resource"
)

// Original returns a message in full without marking it as seen. Its HTML is as the sender wrote it, which is not safe to
// render. Error: message.not_found.
func (s *Service) Original(ctx context.Context, box id.Mailbox, m id.Message) (*Message, error) {
	l, err := s.load(ctx, box, m, nil)
	if err != nil {
		return nil, err
	}
	if l.body.HTML != "" {
		l.detail.HTML = &l.body.HTML
	}
	return l.decoded()
}

// loaded is a message in full, as it is read.
type loaded struct {
	storedRow
	detail resource.Detail // as it is shown; without its HTML until that is made safe
	body   *body
}

// load reads a message in full. It calls reserve, unless that is nil, before it reads more than a little.
func (s *Service) load(ctx context.Context, box id.Mailbox, m id.Message, reserve Reserve) (*loaded, error) {
	var rawUntil int64
	var d shortDetail
	row, err := scanRow(s.db.QueryRow(ctx, selectMessage, box, m), append([]any{&rawUntil}, d.columns()...)...)
	if err != nil {
		return nil, missing(err, problem.MessageNotFound)
	}
	if reserve != nil {
		n, err := s.detailLen(ctx, box, m, &d)
		if err != nil {
			return nil, err
		}
		if err := reserve(n); err != nil {
			return nil, err
		}
	}
	if err := s.complete(ctx, box, m, &d); err != nil {
		return nil, err
	}
	b, err := s.body(ctx, box, m, &d.storedCell)
	if err != nil {
		return nil, err
	}
	shown := b.Detail
	shown.CC, shown.ReplyTo, shown.Headers, shown.Attachments = list(shown.CC), list(shown.ReplyTo), list(shown.Headers), list(shown.Attachments)
	shown.Text, shown.Links, shown.RawExpiresAt = b.Text, links(b.detail), clock.Micro(rawUntil)
	shown.Envelope.To = list(row.EnvelopeTo)
	return &loaded{row, shown, &b}, nil
}

// decoded returns the message.
func (l *loaded) decoded() (*Message, error) {
	summary, err := l.decode()
	if err != nil {
		return nil, err
	}
	full := &Message{Summary: summary, Detail: l.detail}
	if u := l.body.Uncut; u != nil {
		showUncut(full, u)
	}
	if l.NoTo {
		full.To = recipients(l.EnvelopeTo)
	}
	return full, nil
}

// json returns the message as JSON. Of most messages all of the summary is shown as it is stored.
func (l *loaded) json() (EncodedMessage, error) {
	if l.body.Uncut != nil || l.NoTo {
		full, err := l.decoded()
		if err != nil {
			return "", err
		}
		text, err := encode(full)
		return EncodedMessage(text), err
	}
	summary := l.encoded.AppendJSON(nil)
	detail, err := encode(&l.detail)
	if err != nil || len(summary) == 0 {
		return "", fmt.Errorf("encode %s: %w", l.message, cmp.Or(err, errDetail))
	}
	summary[len(summary)-1] = ',' // the members of the detail follow those of the summary, in the same object
	return EncodedMessage(summary) + EncodedMessage(detail[1:]), nil
}

// showUncut replaces what the summary of m has in part only. The sender and subject of its code are those of the message.
func showUncut(m *Message, u *uncut) {
	m.Subject, m.From, m.To = u.Subject, u.From, list(u.To)
	if o := m.OTP; o != nil {
		o.Subject, o.From = u.Subject, u.From
	}
}
