package message

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// EncodedMessage is a message in full: the JSON of a Message.
type EncodedMessage string

// seeMax is how long a message that is read waits to be marked as seen. It is well below the default of http.write_timeout, so that a disk
// that stalls does not prevent reading.
const seeMax = 5 * time.Second

// Read returns a message in full and marks it as seen, unless that cannot be stored within seeMax. It calls reserve, unless that is nil,
// before it reads more than a little. Errors: message.not_found, and that of reserve.
func (s *Service) Read(ctx context.Context, box id.Mailbox, m id.Message, reserve Reserve) (EncodedMessage, error) {
	program := s.program()
	r, err := s.row(ctx, box, m, program)
	if err != nil {
		return "", err
	}
	detail, l, err := s.show(ctx, r, program, reserve)
	if err != nil {
		return "", err
	}
	if r.encoded.seen == 0 {
		err := s.see(ctx, r, program)
		if err != nil && !db.Unavailable(err) {
			return "", err
		}
		if err == nil { // on a full or stalled disk the message can be read, but stays unread
			r.encoded.seen = 1
		}
	}
	if detail == nil {
		return l.json()
	}
	return r.joined(detail)
}

// show returns the detail of a message as JSON, or the message if its detail alone does not do. It sets what is to be kept of it.
func (s *Service) show(ctx context.Context, r *messageRow, program int64, reserve Reserve) (detail []byte, l *loaded, err error) {
	if len(r.kept) > 0 {
		if detail, err = kept(r.kept, reserve); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", r.message, err)
		}
		return detail, nil, nil
	}
	if l, err = s.safe(ctx, r, reserve); err == nil {
		detail, err = l.encodedDetail()
	}
	if err == nil && detail != nil && program != 0 && !l.body.embeds {
		r.kept = keep(detail)
	}
	return detail, l, err
}

// Get returns a message in full. Error: message.not_found.
func (s *Service) Get(ctx context.Context, box id.Mailbox, m id.Message) (*Message, error) {
	r, err := s.row(ctx, box, m, 0)
	if err != nil {
		return nil, err
	}
	l, err := s.safe(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	return l.decoded()
}

// safe reads a message in full with safe HTML.
func (s *Service) safe(ctx context.Context, r *messageRow, reserve Reserve) (*loaded, error) {
	l, err := s.loadRow(ctx, r, reserve)
	if err == nil {
		l.detail.HTML, err = s.safeHTML(ctx, r.box, r.message, l.body)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// see marks a message as read, once, and keeps what was made of it. It does not wait longer than seeMax.
func (s *Service) see(ctx context.Context, r *messageRow, program int64) error {
	box, m := r.box, r.message
	ctx, cancel := context.WithTimeout(db.Abandonable(ctx), seeMax)
	defer cancel()
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		var seen bool
		err := tx.QueryRow(ctx, selectSeen, box, m).Scan(&seen)
		if seen || errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			err = s.boxes.CountTx(ctx, tx, box, 0, -1) // the mailbox is locked before its messages, as in Delete
		}
		if err == nil {
			_, err = tx.Exec(ctx, updateRead, box, m, r.kept, program)
		}
		if err == nil {
			err = s.boxes.SeenTx(ctx, tx, box, true, m)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("mark %s as seen: %w", m, err)
	}
	return nil
}

// SetSeen marks a message as read or unread, and returns its summary. Errors: message.not_found, and db.ErrFull on a full disk.
func (s *Service) SetSeen(ctx context.Context, box id.Mailbox, m id.Message, seen bool) (*Summary, error) {
	var summary Summary
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if summary, err = scanSummary(tx.QueryRow(ctx, selectSummary, box, m)); err != nil {
			return missing(err, problem.MessageNotFound)
		}
		if summary.Seen == seen {
			return nil
		}
		summary.Seen = seen
		unread := 1
		if seen {
			unread = -1
		}
		if err := s.boxes.CountTx(ctx, tx, box, 0, unread); err != nil { // the mailbox first, as in Delete
			return err
		}
		return s.setSeenTx(ctx, tx, box, m, seen)
	})
	if err != nil {
		return nil, fmt.Errorf("mark %s: %w", m, err)
	}
	return &summary, nil
}

// setSeenTx writes whether a message was read. The mailbox has been locked.
func (s *Service) setSeenTx(ctx context.Context, tx *db.Tx, box id.Mailbox, m id.Message, seen bool) error {
	value := 0
	if seen {
		value = 1
	}
	if _, err := tx.Exec(ctx, updateSeen, box, m, value); err != nil {
		return err
	}
	return s.boxes.SeenTx(ctx, tx, box, seen, m) // which also wakes the waits for unread messages
}

// Delete removes a message. Error: message.not_found.
func (s *Service) Delete(ctx context.Context, box id.Mailbox, m id.Message) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.removeTx(ctx, tx, box, m) })
}

func (s *Service) removeTx(ctx context.Context, tx *db.Tx, box id.Mailbox, m id.Message) error {
	var seen bool
	if err := tx.QueryRow(ctx, selectSeen, box, m).Scan(&seen); err != nil {
		return missing(err, problem.MessageNotFound)
	}
	unread := -1
	if seen {
		unread = 0
	}
	// The mailbox is locked before its messages, in the same order everywhere (see blob.InsertTx).
	if err := s.boxes.CountTx(ctx, tx, box, -1, unread); err != nil {
		return err
	}
	if err := deleteTx(ctx, tx, box, m); err != nil {
		return fmt.Errorf("delete %s: %w", m, err)
	}
	return s.boxes.DeletedTx(ctx, tx, box, seen, m)
}

// Attachment returns one attachment and a reader of its octets, as many as its size says, which has been verified. The reader reads
// again, chunk by chunk, and holds nothing of the database in between; an error that it returns says that the message was deleted
// meanwhile, or that the database failed. Errors: message.not_found, attachment.not_found, attachment.not_retained.
func (s *Service) Attachment(ctx context.Context, box id.Mailbox, m id.Message, att id.Attachment) (*Attachment, io.Reader, error) {
	var c storedCell
	if err := s.db.QueryRow(ctx, selectDetail, box, m).Scan(c.columns()...); err != nil {
		return nil, nil, missing(err, problem.MessageNotFound)
	}
	b, err := s.body(ctx, box, m, &c)
	if err != nil {
		return nil, nil, err
	}
	for i, a := range b.Attachments {
		if a.ID != att {
			continue
		}
		if !a.Available {
			return nil, nil, problem.New(problem.AttachmentNotRetained)
		}
		r, err := s.open(ctx, box, m, &b, i)
		return &a, r, err
	}
	return nil, nil, problem.New(problem.AttachmentNotFound)
}

// missing returns a problem with the code for sql.ErrNoRows.
func missing(err error, code problem.Code) error {
	if errors.Is(err, sql.ErrNoRows) {
		return problem.New(code)
	}
	return fmt.Errorf("read a message: %w", err)
}
