// Package sink lists and searches the mail that the sink took, for the APIs that test tools use (docs/spec/mailpit.md). A mail
// that was handed over once is one entry, however many recipients of the sink it had; its content is that of the messages it
// became, in package message, and it is gone when the last of those is.
package sink

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/truncate"
)

// Mail is an entry as lists show it.
type Mail struct {
	ID         id.SinkMail
	Number     int64 // in the order of arrival
	ReceivedAt time.Time
	Size       int64
	Seen       bool
	Summary
}

// Summary is what the header fields of a mail say, each bounded.
type Summary struct {
	MessageID   string            `json:"messageId,omitempty"`
	From        message.Address   `json:"from"`
	To          []message.Address `json:"to,omitempty"`
	CC          []message.Address `json:"cc,omitempty"`
	BCC         []message.Address `json:"bcc,omitempty"` // recipients that no header field names
	ReplyTo     []message.Address `json:"replyTo,omitempty"`
	Subject     string            `json:"subject,omitempty"`
	Snippet     string            `json:"snippet,omitempty"`
	Attachments int               `json:"attachments,omitempty"`
	Inline      int               `json:"inline,omitempty"`
	Sender      string            `json:"sender,omitempty"`     // the reverse-path
	Recipients  []string          `json:"recipients,omitempty"` // the forward-paths of the sink
}

// stored is a Summary with what else is searched.
type stored struct {
	Summary
	Text string `json:"text,omitempty"` // the beginning of the text, and the names of attachments
}

// Bounds of what is kept of a mail, besides its messages.
const (
	textMax    = 4 << 10 // octets of text that is searched
	snippetMax = 250     // characters
	fieldMax   = 1000    // octets of a name, an address, the subject or the Message-ID
	listMax    = 100     // addresses in a field
	filesMax   = 20      // attachments whose names are searched
	chunkMails = 200     // mails of one transaction
	entriesMax = 200_000 // mails that are listed and searched, the newest
	textTotal  = 128 << 20
)

// Draft is a mail that is encoded for storing.
type Draft struct {
	size int64
	text string
}

// NewDraft encodes a mail for the sink. recipients are the forward-paths of the sink that it was sent to.
func NewDraft(c *message.Content, recipients []string) (*Draft, error) {
	s := stored{Summary: Summary{
		MessageID: truncate.Octets(c.MessageID, fieldMax), From: short(c.From), To: shortAll(c.To), CC: shortAll(c.CC), ReplyTo: shortAll(c.ReplyTo),
		Subject: truncate.Octets(c.Subject, fieldMax), Snippet: truncate.Runes(fold(c.Text, 4*snippetMax), snippetMax),
	}}
	named := make(map[string]bool, len(c.To)+len(c.CC))
	for _, a := range c.To {
		named[strings.ToLower(a.Address)] = true
	}
	for _, a := range c.CC {
		named[strings.ToLower(a.Address)] = true
	}
	s.Sender = truncate.Octets(c.EnvelopeFrom, fieldMax)
	for _, r := range recipients[:min(len(recipients), listMax)] {
		s.Recipients = append(s.Recipients, truncate.Octets(r, fieldMax))
		if !named[strings.ToLower(r)] {
			s.BCC = append(s.BCC, message.Address{Address: truncate.Octets(r, fieldMax)})
		}
	}
	var names strings.Builder
	for i, f := range c.Files {
		if f.Inline {
			s.Inline++
		} else {
			s.Attachments++
		}
		if i < filesMax {
			names.WriteString(" " + truncate.Octets(f.Filename, fieldMax/4))
		}
	}
	s.Text = fold(c.Text, textMax) + names.String()
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode a mail of the sink: %w", err)
	}
	return &Draft{size: c.Size, text: string(text)}, nil
}

func short(a message.Address) message.Address {
	return message.Address{Name: truncate.Octets(a.Name, fieldMax), Address: truncate.Octets(a.Address, fieldMax)}
}

func shortAll(all []message.Address) (out []message.Address) {
	for _, a := range all[:min(len(all), listMax)] {
		out = append(out, short(a))
	}
	return out
}

// fold returns the beginning of a text with its white space folded, at most max octets.
func fold(text string, max int) string {
	return truncate.Octets(strings.Join(strings.Fields(truncate.Octets(text, 4*max)), " "), max)
}

// Messages deletes messages.
type Messages interface {
	DeleteManyTx(ctx context.Context, tx *db.Tx, refs []message.Ref) error
}

// Service implements the mail of the sink. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	clock    clock.Clock
	messages Messages
	index    index
	searches chan struct{} // holds a token while a search computes
	pruned   pruning
}

// New returns a Service.
func New(d *db.DB, c clock.Clock, messages Messages) *Service {
	return &Service{db: d, clock: c, messages: messages, searches: make(chan struct{}, 2)}
}

// Arrival is a mail that is stored together with the messages that it became.
type Arrival struct {
	*Draft
	ID     id.SinkMail
	At     time.Time
	Copies []message.Ref
}

// InsertTx stores mails in the transaction of their messages.
func (s *Service) InsertTx(ctx context.Context, tx *db.Tx, arrivals []Arrival) error {
	if len(arrivals) == 0 {
		return nil
	}
	last, err := changeTx(ctx, tx, len(arrivals))
	if err != nil {
		return err
	}
	var mails mailRows
	var copies copyRows
	for i, a := range arrivals {
		mails.add(a, last-int64(len(arrivals)-1-i))
		for _, c := range a.Copies {
			copies.add(c, a.ID)
		}
	}
	if err := mails.insertTx(ctx, tx); err != nil {
		return fmt.Errorf("store %d mails of the sink: %w", len(arrivals), err)
	}
	if err := copies.insertTx(ctx, tx); err != nil {
		return fmt.Errorf("store the copies of %d mails of the sink: %w", len(arrivals), err)
	}
	return nil
}
