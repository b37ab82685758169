// Package sink lists and searches the mail that the sink took, for the APIs that test tools use (docs/spec/mailpit.md).
// A mail that was handed over once is one entry, however many recipients of the sink it had; its content is that of the
// messages it became, in package message, and it is gone when the last of those is.
//
// NewDraft and InsertTx store a mail in the transaction of its messages. Search, Get and Matching answer from an index
// in memory (index.go), which each process keeps itself and brings up to date before each use; only the mails of the
// returned page are read from the database. SetSeen and Delete change mails, Changes lists what has changed since a
// number, for event streams.
//
// Every change has a number, counted in the row sink_state, and changes are committed in the order of their numbers. So
// a process that has read up to a number can ask for what came after it, and misses nothing. A deleted mail leaves a
// row that says so until Sweep removes it.
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

// Mail is an entry as lists show it. It is a copy of the row at the time of reading.
type Mail struct {
	ID         id.SinkMail
	Number     int64 // in the order of arrival, from 1, with gaps
	ReceivedAt time.Time
	Size       int64 // octets of the raw message
	Seen       bool
	Summary
}

// Summary is what the header fields of a mail say, each bounded. It is stored as JSON; the names of its fields are part
// of the stored rows.
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

	// textTotal bounds the octets of all texts in the index. Beyond it the oldest mails are searched by their header
	// fields alone.
	textTotal = 128 << 20
)

// Draft is a mail that is encoded for storing. It is made outside of the transaction, since encoding takes time.
type Draft struct {
	size int64
	text string
}

// NewDraft encodes a mail for the sink. recipients are the forward-paths of the sink that it was sent to. c is not
// kept. Recipients that neither To nor Cc names are shown as Bcc. The error is that of encoding, which does not occur.
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

// short returns an address with its name and address bounded.
func short(a message.Address) message.Address {
	return message.Address{Name: truncate.Octets(a.Name, fieldMax), Address: truncate.Octets(a.Address, fieldMax)}
}

// shortAll returns at most listMax addresses, each bounded.
func shortAll(all []message.Address) (out []message.Address) {
	for _, a := range all[:min(len(all), listMax)] {
		out = append(out, short(a))
	}
	return out
}

// fold returns the beginning of a text with its white space folded, at most max octets. Only the first 4*max octets are
// read, so that a large text costs no more than a small one.
func fold(text string, max int) string {
	return truncate.Octets(strings.Join(strings.Fields(truncate.Octets(text, 4*max)), " "), max)
}

// Messages deletes messages. Package message implements it.
type Messages interface {
	// DeleteManyTx deletes messages in the caller's transaction. A trigger marks the mail of the last of them as gone.
	DeleteManyTx(ctx context.Context, tx *db.Tx, refs []message.Ref) error
}

// Service implements the mail of the sink. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	clock    clock.Clock
	messages Messages
	index    index
	searches chan struct{} // has a token for each search that computes, two at most: each uses all processors
	pruned   pruning
}

// New returns a Service. KeepUp should run for as long as it is used, and Sweep be called periodically.
func New(d *db.DB, c clock.Clock, messages Messages) *Service {
	return &Service{db: d, clock: c, messages: messages, searches: make(chan struct{}, 2)}
}

// Arrival is a mail that is stored together with the messages that it became. It is gone again when all of Copies are
// deleted.
type Arrival struct {
	*Draft
	ID     id.SinkMail
	At     time.Time
	Copies []message.Ref
}

// InsertTx stores mails in the transaction of their messages. The arrivals get consecutive numbers in their order. The
// row of sink_state stays locked until the commit, so other transactions of the sink wait.
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
