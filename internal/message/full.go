package message

import (
	"context"
	"fmt"
	"strings"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/resource"
)

// messageRow is a message as a statement reads it.
type messageRow struct {
	storedRow
	shortDetail
	box      id.Mailbox
	rest     string // the column internal
	rawUntil int64
	kept     []byte // what the program that reads it keeps of it; empty: nothing
}

// row reads a message, and what is kept of it for a program.
func (s *Service) row(ctx context.Context, box id.Mailbox, m id.Message, program int64) (*messageRow, error) {
	r := messageRow{box: box}
	columns := append([]any{&r.message, &r.received, &r.encoded.seen, &r.encoded.stored, &r.rest, &r.rawUntil, &r.kept}, r.columns()...)
	if err := s.db.QueryRow(ctx, selectMessage, box, m, program).Scan(columns...); err != nil {
		return nil, missing(err, problem.MessageNotFound)
	}
	return &r, nil
}

// loaded is a message in full, as it is read.
type loaded struct {
	*messageRow
	detail resource.Detail // as it is shown; without its HTML until that is made safe
	body   *body
}

// load reads a message in full. It calls reserve, unless that is nil, before it reads more than a little.
func (s *Service) load(ctx context.Context, box id.Mailbox, m id.Message, reserve Reserve) (*loaded, error) {
	r, err := s.row(ctx, box, m, 0)
	if err != nil {
		return nil, err
	}
	return s.loadRow(ctx, r, reserve)
}

// loadRow is load for a message whose row has been read.
func (s *Service) loadRow(ctx context.Context, r *messageRow, reserve Reserve) (*loaded, error) {
	if err := r.decodeInternal(r.rest); err != nil {
		return nil, err
	}
	box, m, d := r.box, r.message, &r.shortDetail
	if reserve != nil {
		n, err := s.detailLen(ctx, box, m, d)
		if err != nil {
			return nil, err
		}
		if err := reserve(n); err != nil {
			return nil, err
		}
	}
	if err := s.complete(ctx, box, m, d); err != nil {
		return nil, err
	}
	b, err := s.body(ctx, box, m, &d.storedCell)
	if err != nil {
		return nil, err
	}
	shown := b.Detail
	shown.CC, shown.ReplyTo, shown.Headers, shown.Attachments = list(shown.CC), list(shown.ReplyTo), list(shown.Headers), list(shown.Attachments)
	shown.Text, shown.RawExpiresAt = b.Text, clock.Micro(r.rawUntil)
	shown.Links, shown.BestLink = links(linksOf(&b.detail, linksMax)), b.Best
	shown.Envelope.To = list(r.EnvelopeTo)
	return &loaded{r, shown, &b}, nil
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

// json returns the message as JSON.
func (l *loaded) json() (EncodedMessage, error) {
	full, err := l.decoded()
	if err != nil {
		return "", err
	}
	text, err := encode(full)
	return EncodedMessage(text), err
}

// encodedDetail returns the detail as JSON, or nil for a message in full whose summary is not that of a list.
func (l *loaded) encodedDetail() ([]byte, error) {
	if l.body.Uncut != nil || l.NoTo {
		return nil, nil
	}
	text, err := encode(&l.detail)
	return []byte(text), err
}

// joined returns the message as JSON, from its summary as it is stored and from the JSON of its detail.
func (r *storedRow) joined(detail []byte) (EncodedMessage, error) {
	summary := r.encoded.AppendJSON(nil)
	if len(summary) == 0 {
		return "", fmt.Errorf("encode %s: %w", r.message, errDetail)
	}
	var all strings.Builder
	all.Grow(len(summary) + len(detail))
	all.Write(summary[:len(summary)-1])
	all.WriteByte(',') // the members of the detail follow those of the summary, in the same object
	all.Write(detail[1:])
	return EncodedMessage(all.String()), nil
}

// showUncut replaces what the summary of m has in part only. The sender and subject of its code are those of the message.
func showUncut(m *Message, u *uncut) {
	m.Subject, m.From, m.To = u.Subject, u.From, list(u.To)
	if o := m.OTP; o != nil {
		o.Subject, o.From = u.Subject, u.From
	}
}
