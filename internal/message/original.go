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
	full, more, err := s.load(ctx, box, m)
	if err == nil && more.HTML != "" {
		full.HTML = &more.HTML
	}
	return full, err
}

// load reads a message in full, without its HTML, which is in the body.
func (s *Service) load(ctx context.Context, box id.Mailbox, m id.Message) (*Message, *body, error) {
	var rawUntil int64
	var c storedCell
	summary, kept, err := scanStored(s.db.QueryRow(ctx, selectMessage, box, m), box, append([]any{&rawUntil}, c.columns()...)...)
	if err != nil {
		return nil, nil, missing(err, problem.MessageNotFound)
	}
	more, err := s.body(ctx, box, m, &c)
	if err != nil {
		return nil, nil, err
	}
	if u := more.Uncut; u != nil {
		kept.Subject, kept.From, kept.To = u.Subject, u.From, u.To
	}
	kept.show(&summary)
	return &Message{
		Summary: summary, CC: list(more.CC), ReplyTo: list(more.ReplyTo), MessageID: more.MessageID, Headers: list(more.Headers),
		Text: more.Text, Attachments: list(more.Attachments), Links: links(more.detail), Authentication: more.Authentication,
		Envelope:     Envelope{From: more.EnvelopeFrom, To: list(kept.EnvelopeTo), Helo: more.Helo, RemoteIP: more.RemoteIP, TLS: more.TLS},
		RawExpiresAt: clock.Micro(rawUntil),
	}, &more, nil
}
