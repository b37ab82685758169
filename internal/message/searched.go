package message

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/search"
)

// searchedBatch bounds the messages whose details are in memory at once. A detail in its row has less than blobFrom octets.
const searchedBatch = 32

// Searched calls fn with what a search in a message looks at, for those of some messages that exist.
func (s *Service) Searched(ctx context.Context, refs []Ref, fn func(Ref, search.Mail)) error {
	for some := range slices.Chunk(refs, searchedBatch) {
		pairs, args := Pairs(some)
		rows, err := db.Collect(ctx, s.db, scanSearched, fmt.Sprintf(selectSearched, pairs), args...)
		if err != nil {
			return fmt.Errorf("read %d messages to search: %w", len(some), err)
		}
		for i := range rows {
			m, err := s.searched(ctx, &rows[i])
			if err != nil {
				return err
			}
			fn(Ref{rows[i].MailboxID, rows[i].ID}, m)
		}
	}
	return nil
}

// searchedRow is a row of selectSearched.
type searchedRow struct {
	storedSummary
	storedCell
}

func scanSearched(row db.Row) (r searchedRow, err error) {
	if r.storedRow, err = scanRow(row, r.columns()...); err == nil {
		r.Summary, err = r.decode()
	}
	return r, err
}

// searched returns what a search in a message looks at. Content that is damaged is not searched.
func (s *Service) searched(ctx context.Context, r *searchedRow) (search.Mail, error) {
	m := search.Mail{
		ReceivedAt: r.ReceivedAt.Time, Size: r.Size, Seen: r.Seen, HasAttachments: r.HasAttachments, MessageID: r.HeaderID,
		Subject: r.Subject, From: r.From, To: r.To, CC: r.CC, Text: r.Preview, Tags: r.Tags,
	}
	var d searchedDetail
	text, ok, err := s.beginning(ctx, &r.storedCell, &d)
	if err != nil {
		return m, fmt.Errorf("read %s to search: %w", r.ID, err)
	}
	if ok {
		m.CC, m.ReplyTo, m.Sender, m.Text = d.CC, d.ReplyTo, d.Envelope.From, search.CollapseSpace(text, search.TextMax)
		for _, f := range d.Attachments {
			m.Text += " " + f.Filename
			m.HasInline = m.HasInline || f.Inline
		}
	}
	for _, path := range r.EnvelopeTo {
		isPath := func(a Address) bool { return strings.EqualFold(a.Address, path) }
		if slices.ContainsFunc(m.To, isPath) {
			continue
		}
		if !slices.ContainsFunc(m.CC, isPath) {
			m.BCC = append(m.BCC, Address{Address: path})
		}
		m.To = append(m.To, Address{Address: path}) // to: finds who received the mail, as the filter to does
	}
	return m, nil
}

// beginning decodes the beginning of a detail, and returns the beginning of the message's text. ok is false if the detail is damaged or
// was deleted meanwhile.
func (s *Service) beginning(ctx context.Context, c *storedCell, d *searchedDetail) (text string, ok bool, err error) {
	key, shared, err := c.key()
	var begin []byte
	switch {
	case err == nil && shared:
		begin, err = blob.Read(ctx, s.db, key, 0, bodyBegin)
	case err == nil:
		if begin, err = c.content(); err != nil { // nothing was read from elsewhere
			err = errors.Join(blob.ErrDamaged, err)
		}
	}
	if errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrDamaged) {
		return "", false, nil
	}
	if err == nil && shared {
		var head bodyHead
		head, err = parseBodyHead(begin)
		begin = begin[min(int64(len(begin)), head.detail):]
	}
	if errors.Is(err, errDetail) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	text, ok = parseBeginning(begin, d)
	return text, ok, nil
}

// searchedDetail is what a search looks at of the JSON of a detail.
type searchedDetail struct {
	CC, ReplyTo []Address
	Envelope    struct{ From string }
	Attachments []struct {
		Filename string
		Inline   bool
	}
	TextLen int
}

// parseBeginning decodes the beginning of a detail, and returns the beginning of the message's text. ok is false if more of the detail
// would be needed.
func parseBeginning(begin []byte, d *searchedDetail) (text string, ok bool) {
	length, n := binary.Uvarint(begin)
	if n <= 0 || length > uint64(len(begin)-n) || json.Unmarshal(begin[n:n+int(length)], d) != nil || d.TextLen < 0 {
		return "", false
	}
	rest := begin[n+int(length):]
	return string(rest[:min(len(rest), d.TextLen, 4*search.TextMax)]), true
}
