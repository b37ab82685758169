package message

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/raw"
)

// storedCell is the columns of a cell as a statement reads them.
type storedCell struct {
	data []byte
	crc  int64
	blob []byte // nil: none
}

func (c *storedCell) columns() []any { return []any{&c.data, &c.crc, &c.blob} }

// key returns the key of the blob, or none if the content is in the row.
func (c *storedCell) key() (key blob.Key, ok bool, err error) {
	if c.blob == nil {
		return key, false, nil
	}
	if len(c.blob) != len(key) {
		return key, false, fmt.Errorf("the key of a blob has %d octets: %w", len(c.blob), blob.ErrDamaged)
	}
	return blob.Key(c.blob), true, nil
}

// content verifies, decompresses and returns the content that is in the row itself. Error: blob.ErrDamaged.
func (c *storedCell) content() ([]byte, error) {
	if blob.Checksum(c.data) != c.crc {
		return nil, fmt.Errorf("a row of mail: %w", blob.ErrDamaged)
	}
	return raw.Decompress(c.data)
}

// body is the detail of a message as it is read, and where its small files are.
type body struct {
	detail
	key  blob.Key
	head bodyHead // no files where the detail is in its row

	embeds bool // parts of the mail may be in its HTML as it is shown
}

// body reads a detail.
func (s *Service) body(ctx context.Context, box id.Mailbox, m id.Message, c *storedCell) (b body, err error) {
	key, shared, err := c.key()
	if err == nil && shared {
		b, err = s.readBody(ctx, key)
	} else if err == nil {
		var plain []byte
		if plain, err = c.content(); err == nil {
			b.detail, err = parseDetail(plain)
		}
	}
	if err != nil {
		return body{}, s.gone(ctx, box, m, fmt.Errorf("read %s: %w", m, err))
	}
	return b, nil
}

// Reserve reserves memory for reading so many octets of a message beside its summary and its attachments: header fields and texts.
type Reserve func(octets int64) error

// Reserve calls reserve with what reading a message takes. It reads little of it. Error: message.not_found, and that of reserve.
func (s *Service) Reserve(ctx context.Context, box id.Mailbox, m id.Message, reserve Reserve) error {
	var d shortDetail
	if err := s.db.QueryRow(ctx, selectDetailLen, box, m).Scan(d.columns()...); err != nil {
		return missing(err, problem.MessageNotFound)
	}
	n, err := s.detailLen(ctx, box, m, &d)
	if err != nil {
		return err
	}
	return reserve(n)
}

// shortDetail is what detailColumns hold.
type shortDetail struct {
	length int64
	storedCell
}

func (d *shortDetail) columns() []any { return append([]any{&d.length}, d.storedCell.columns()...) }

// detailLen returns how many octets a detail has.
func (s *Service) detailLen(ctx context.Context, box id.Mailbox, m id.Message, d *shortDetail) (int64, error) {
	key, shared, err := d.key()
	if err != nil || !shared {
		return raw.DecompressedLen(d.data, d.length), err
	}
	begin, err := blob.Read(ctx, s.db, key, 0, bodyBegin)
	if err != nil {
		return 0, s.gone(ctx, box, m, fmt.Errorf("read %s: %w", m, err))
	}
	head, err := parseBodyHead(begin)
	return head.length, err
}

// complete reads the rest of a detail of which the beginning was read.
func (s *Service) complete(ctx context.Context, box id.Mailbox, m id.Message, d *shortDetail) error {
	if d.blob != nil || d.length == int64(len(d.data)) {
		return nil
	}
	if err := s.db.QueryRow(ctx, selectDetail, box, m).Scan(d.storedCell.columns()...); err != nil {
		return missing(err, problem.MessageNotFound)
	}
	return nil
}

// bodyBegin is how much of a body is read at first: most details are not longer.
const bodyBegin = 64 << 10

func (s *Service) readBody(ctx context.Context, key blob.Key) (b body, err error) {
	b.key = key
	begin, err := blob.Read(ctx, s.db, key, 0, bodyBegin)
	if err != nil {
		return b, err
	}
	if b.head, err = parseBodyHead(begin); err != nil {
		return b, err
	}
	plain := begin[b.head.detail:]
	if missing := b.head.length - int64(len(plain)); missing > 0 {
		rest, err := blob.Read(ctx, s.db, key, int64(len(begin)), missing)
		if err != nil {
			return b, err
		}
		plain = append(plain, rest...)
	}
	if int64(len(plain)) < b.head.length {
		return b, fmt.Errorf("the body %x is short: %w", key, blob.ErrDamaged)
	}
	b.detail, err = parseDetail(plain[:b.head.length])
	return b, err
}

// gone makes the error of a blob that is not there the problem that says so, where the message has been deleted meanwhile.
func (s *Service) gone(ctx context.Context, box id.Mailbox, m id.Message, err error) error {
	if !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	there, failed := s.Stored(ctx, s.db, box, m)
	if failed != nil || there {
		return errors.Join(err, failed)
	}
	return problem.New(problem.MessageNotFound)
}

// open is Attachment for an attachment whose index in the message is known.
func (s *Service) open(ctx context.Context, box id.Mailbox, m id.Message, b *body, index int) (io.Reader, error) {
	a := &b.Attachments[index]
	if at := b.head.find(index, b.Attachments); at >= 0 {
		r, err := s.openBlob(ctx, b.key, at, a)
		return r, s.gone(ctx, box, m, err)
	}
	var c storedCell
	if err := s.db.QueryRow(ctx, selectAttachment, box, m, a.ID).Scan(c.columns()...); err != nil {
		return nil, missing(err, problem.AttachmentNotFound)
	}
	key, shared, err := c.key()
	if err == nil && shared {
		r, err := s.openBlob(ctx, key, 0, a)
		return r, s.gone(ctx, box, m, err)
	}
	var data []byte
	if err == nil {
		data, err = c.content()
	}
	if err == nil && int64(len(data)) != a.Size {
		err = fmt.Errorf("%d octets instead of %d: %w", len(data), a.Size, blob.ErrDamaged)
	}
	if err != nil {
		return nil, fmt.Errorf("read attachment %s: %w", a.ID, err)
	}
	return bytes.NewReader(data), nil
}

func (s *Service) openBlob(ctx context.Context, key blob.Key, at int64, a *Attachment) (io.Reader, error) {
	if err := blob.Verify(ctx, s.db, key, at, a.Size); err != nil {
		return nil, fmt.Errorf("read attachment %s: %w", a.ID, err)
	}
	return vanishing{blob.NewReader(ctx, s.db, key, at, a.Size)}, nil
}

// vanishing reads a blob. If the blob is deleted meanwhile, it returns message.not_found instead of an internal error.
type vanishing struct{ from io.Reader }

// Read reads the blob. Error: message.not_found if it was deleted meanwhile.
func (e vanishing) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	if errors.Is(err, blob.ErrNotFound) {
		err = problem.New(problem.MessageNotFound)
	}
	return n, err
}
