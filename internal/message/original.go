package message

import (
	"context"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Original returns a message in full without marking it as seen. Its HTML is as the sender wrote it, which is not safe to
// render. Error: message.not_found.
func (s *Service) Original(ctx context.Context, box id.Mailbox, m id.Message) (*Message, error) {
	full, more, err := s.load(ctx, box, m, nil)
	if err == nil && more.HTML != "" {
		full.HTML = &more.HTML
	}
	return full, err
}

// load reads a message in full, without its HTML, which is in the body. It calls reserve, unless that is nil, before it reads more than
// a little.
func (s *Service) load(ctx context.Context, box id.Mailbox, m id.Message, reserve Reserve) (*Message, *body, error) {
	var rawUntil int64
	var d shortDetail
	stored, err := scanStored(s.db.QueryRow(ctx, selectMessage, box, m), append([]any{&rawUntil}, d.columns()...)...)
	if err != nil {
		return nil, nil, missing(err, problem.MessageNotFound)
	}
	if reserve != nil {
		n, err := s.detailLen(ctx, box, m, &d)
		if err != nil {
			return nil, nil, err
		}
		if err := reserve(n); err != nil {
			return nil, nil, err
		}
	}
	if err := s.complete(ctx, box, m, &d); err != nil {
		return nil, nil, err
	}
	more, err := s.body(ctx, box, m, &d.storedCell)
	if err != nil {
		return nil, nil, err
	}
	full := &Message{Summary: stored.Summary, Detail: more.detail.Detail}
	if u := more.Uncut; u != nil {
		showUncut(full, u)
	}
	if stored.NoTo {
		full.To = recipients(stored.EnvelopeTo)
	}
	full.CC, full.ReplyTo, full.Headers, full.Attachments = list(full.CC), list(full.ReplyTo), list(full.Headers), list(full.Attachments)
	full.Text, full.Links, full.RawExpiresAt = more.Text, links(more.detail), clock.Micro(rawUntil)
	full.Envelope.To = list(stored.EnvelopeTo)
	return full, &more, nil
}

// showUncut replaces what the summary of m has in part only. The sender and subject of its code are those of the message.
func showUncut(m *Message, u *uncut) {
	m.Subject, m.From, m.To = u.Subject, u.From, list(u.To)
	if o := m.OTP; o != nil {
		o.Subject, o.From = u.Subject, u.From
	}
}
