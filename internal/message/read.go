package message

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/original"
	"github.com/gonebox/gonebox/internal/problem"
)

// Read returns a message in full and marks it as seen. Error: message.not_found.
func (s *Service) Read(ctx context.Context, box id.Mailbox, m id.Message) (*Message, error) {
	var rawUntil int64
	var compressed []byte
	summary, to, err := scanSummary(s.db.QueryRow(ctx, selectMessage, box, m), box, &rawUntil, &compressed)
	if err != nil {
		return nil, missing(err, problem.MessageNotFound)
	}
	more, err := unpackDetail(compressed)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", m, err)
	}
	full := &Message{
		Summary: summary, CC: list(more.CC), ReplyTo: list(more.ReplyTo), MessageID: more.MessageID, Headers: list(more.Headers),
		Text: more.Text, Attachments: list(more.Attachments), Links: links(more), Authentication: more.Authentication,
		Envelope:     Envelope{From: more.EnvelopeFrom, To: list(to), Helo: more.Helo, RemoteIP: more.RemoteIP, TLS: more.TLS},
		RawExpiresAt: clock.Micro(rawUntil),
	}
	if full.HTML, err = s.safeHTML(ctx, box, m, more); err != nil {
		return nil, err
	}
	if !full.Seen {
		if err := s.see(ctx, box, m); err != nil {
			return nil, err
		}
		full.Seen = true
	}
	return full, nil
}

// see marks a message as read, once.
func (s *Service) see(ctx context.Context, box id.Mailbox, m id.Message) error {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, updateSeen, box, m)
		if err != nil || n == 0 {
			return err
		}
		return s.boxes.CountTx(ctx, tx, box, 0, -1)
	})
	if err != nil {
		return fmt.Errorf("mark %s as seen: %w", m, err)
	}
	return nil
}

// Delete removes a message. Error: message.not_found.
func (s *Service) Delete(ctx context.Context, box id.Mailbox, m id.Message) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		seen, found, err := s.deleteTx(ctx, tx, box, m)
		if err != nil {
			return fmt.Errorf("delete %s: %w", m, err)
		}
		if !found {
			return problem.New(problem.MessageNotFound)
		}
		unread := -1
		if seen {
			unread = 0
		}
		return s.boxes.CountTx(ctx, tx, box, -1, unread)
	})
}

// Raw returns the original of a message: its bytes as received behind the fields that this server put in front.
// Errors: message.not_found, message.raw_expired.
func (s *Service) Raw(ctx context.Context, box id.Mailbox, m id.Message) ([]byte, error) {
	var ref original.Ref
	var until int64
	if err := s.db.QueryRow(ctx, selectRaw, box, m).Scan(&ref, &until); err != nil {
		return nil, missing(err, problem.MessageNotFound)
	}
	if s.clock.Now().UnixMicro() >= until {
		return nil, problem.New(problem.MessageRawExpired)
	}
	raw, err := s.originals.Read(ref)
	if errors.Is(err, original.ErrGone) {
		return nil, problem.New(problem.MessageRawExpired)
	}
	if err != nil {
		return nil, fmt.Errorf("read the original of %s: %w", m, err)
	}
	return raw, nil
}

// Attachment returns one attachment and its bytes. Errors: message.not_found, attachment.not_found, attachment.not_retained.
func (s *Service) Attachment(ctx context.Context, box id.Mailbox, m id.Message, att id.Attachment) (*Attachment, []byte, error) {
	var compressed []byte
	if err := s.db.QueryRow(ctx, selectDetail, box, m).Scan(&compressed); err != nil {
		return nil, nil, missing(err, problem.MessageNotFound)
	}
	more, err := unpackDetail(compressed)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", m, err)
	}
	for _, a := range more.Attachments {
		if a.ID != att {
			continue
		}
		if !a.Available {
			return nil, nil, problem.New(problem.AttachmentNotRetained)
		}
		data, err := s.file(ctx, box, m, att)
		return &a, data, err
	}
	return nil, nil, problem.New(problem.AttachmentNotFound)
}

func (s *Service) file(ctx context.Context, box id.Mailbox, m id.Message, att id.Attachment) ([]byte, error) {
	var compressed []byte
	if err := s.db.QueryRow(ctx, selectAttachment, box, m, att).Scan(&compressed); err != nil {
		return nil, missing(err, problem.AttachmentNotFound)
	}
	data, err := original.Decompress(compressed)
	if err != nil {
		return nil, fmt.Errorf("read attachment %s: %w", att, err)
	}
	return data, nil
}

// missing makes "no row" the problem that says so.
func missing(err error, code problem.Code) error {
	if errors.Is(err, sql.ErrNoRows) {
		return problem.New(code)
	}
	return fmt.Errorf("read a message: %w", err)
}
