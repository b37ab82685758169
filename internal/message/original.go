package message

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Original is a message in full, and the octets of its attachments. It was read once, however many attachments are read.
type Original struct {
	*Message
	TextDerived bool // the text is that of the HTML, since the mail has no text part

	s    *Service
	box  id.Mailbox
	body *body
}

// Original returns a message in full without marking it as seen. Its HTML is as the sender wrote it, which is not safe to
// render. It calls reserve, unless that is nil, before it reads more than a little. Errors: message.not_found, and that of
// reserve.
func (s *Service) Original(ctx context.Context, box id.Mailbox, m id.Message, reserve Reserve) (*Original, error) {
	l, err := s.load(ctx, box, m, reserve)
	if err != nil {
		return nil, err
	}
	if l.body.HTML != "" {
		l.detail.HTML = &l.body.HTML
	}
	full, err := l.decoded()
	if err != nil {
		return nil, err
	}
	return &Original{full, l.body.Derived, s, box, l.body}, nil
}

// Part returns the position of an attachment in the tree of parts, such as 2.1.
func (o *Original) Part(index int) string {
	if index < len(o.body.Parts) {
		return o.body.Parts[index]
	}
	return defaultPart(index)
}

// Open returns an attachment, by its index, and a reader of its octets as Service.Attachment returns it. Errors:
// attachment.not_found, attachment.not_retained, message.not_found.
func (o *Original) Open(ctx context.Context, index int) (*Attachment, io.Reader, error) {
	if index < 0 || index >= len(o.Attachments) {
		return nil, nil, problem.New(problem.AttachmentNotFound)
	}
	a := &o.Attachments[index]
	if !a.Available {
		return nil, nil, problem.New(problem.AttachmentNotRetained)
	}
	r, err := o.s.open(ctx, o.box, o.ID, o.body, index)
	return a, r, err
}

// EachAttachment calls fn with the octets of every attachment that was kept, in any order. It reads them in one pass, a chunk
// at a time. fn must read to the end, and must not use the database. Errors: message.not_found, and that of fn.
func (o *Original) EachAttachment(ctx context.Context, fn func(index int, octets io.Reader) error) error {
	at := o.body.head.detail + o.body.head.length // small files that are stored behind the detail
	end := at
	for _, i := range o.body.head.files {
		if i < 0 || i >= len(o.Attachments) {
			return fmt.Errorf("the body %x has no attachment %d: %w", o.body.key, i, errDetail)
		}
		end += o.Attachments[i].Size
	}
	shared := blob.NewReader(ctx, o.s.db, o.body.key, at, end-at)
	for _, i := range o.body.head.files {
		if err := o.whole(ctx, i, shared, fn); err != nil {
			return err
		}
	}
	large, err := o.eachRow(ctx, fn)
	if err != nil {
		return err
	}
	for i, key := range large {
		if err := o.whole(ctx, i, blob.NewReader(ctx, o.s.db, key, 0, o.Attachments[i].Size), fn); err != nil {
			return err
		}
	}
	return nil
}

// eachRow calls fn with the octets of the attachments that are in their rows, and returns the keys of those that are blobs.
func (o *Original) eachRow(ctx context.Context, fn func(index int, octets io.Reader) error) (map[int]blob.Key, error) {
	index := make(map[id.Attachment]int, len(o.Attachments))
	for i := range o.Attachments {
		index[o.Attachments[i].ID] = i
	}
	rows, err := o.s.db.Query(ctx, selectAttachments, o.box, o.ID)
	if err != nil {
		return nil, fmt.Errorf("read the attachments of %s: %w", o.ID, err)
	}
	defer rows.Close()
	large := make(map[int]blob.Key)
	for rows.Next() {
		var att id.Attachment
		var c storedCell
		if err := rows.Scan(append([]any{&att}, c.columns()...)...); err != nil {
			return nil, fmt.Errorf("read the attachments of %s: %w", o.ID, err)
		}
		i, known := index[att]
		if !known {
			continue
		}
		key, shared, err := c.key()
		if err == nil && shared {
			large[i] = key
			continue
		}
		var data []byte
		if err == nil {
			data, err = c.content()
		}
		if err == nil {
			err = o.whole(ctx, i, bytes.NewReader(data), fn)
		}
		if err != nil {
			return nil, fmt.Errorf("read attachment %s: %w", att, err)
		}
	}
	return large, rows.Err()
}

// whole calls fn with the next octets of r, as many as an attachment has.
func (o *Original) whole(ctx context.Context, index int, r io.Reader, fn func(index int, octets io.Reader) error) error {
	octets := &io.LimitedReader{R: r, N: o.Attachments[index].Size}
	err := fn(index, octets)
	if err == nil && octets.N > 0 {
		err = fmt.Errorf("%d octets of an attachment of %s are missing: %w", octets.N, o.ID, blob.ErrDamaged)
	}
	return o.s.gone(ctx, o.box, o.ID, err)
}
