// Package sink lists and searches the mail that the sink has accepted, for the APIs of test tools
// (docs/spec/mailpit.md). A mail that was received once is one Mail, however many recipients of the sink it had.
// Package message stores one message with its content for each recipient, and the Mail is deleted with the last of
// these messages.
//
// A mail may have tags (tag.go), which its messages have too.
//
// NewDraft and InsertTx store a mail in the transaction of its messages. Search, Get and Matching use an index in
// memory (index.go), which each process keeps for itself and updates before each use; only the mails of the returned
// page are read from the database. SetSeen, SetTags and Delete change mails. Changes lists the changes since a given one, for
// event streams.
//
// Changes are numbered in the order of their commits, by a counter in the row of sink_state. So a process that has read
// all changes up to a number misses none by asking for those after it. The row of a deleted mail is marked as deleted,
// and stays until Sweep removes it.
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
	"github.com/gonebox/gonebox/internal/search"
	"github.com/gonebox/gonebox/internal/truncate"
)

// Mail is a mail without its content. It is a copy of the row at the time of reading.
type Mail struct {
	ID         id.SinkMail
	Number     int64 // in the order of arrival, from 1, with gaps
	ReceivedAt time.Time
	Size       int64 // octets of the raw message
	Seen       bool
	Tags       []string // sorted; nil: none
	Summary
}

// Summary has the header fields of a mail and what lists show of its content, each bounded in size. It is stored as
// JSON, so the JSON names of its fields must not change.
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
	Username    string            `json:"username,omitempty"`   // what the client signed in as with AUTH; not checked
}

// storedMail is the JSON form of a mail in the database: its Summary and the text to search.
type storedMail struct {
	Summary
	Text string `json:"text,omitempty"` // the beginning of the message text, and the names of attachments
}

// The limits of what is stored of a mail besides its messages, and of the index.
const (
	snippetMax = 250     // characters
	fieldMax   = 1000    // octets of a name, an address, the subject or the Message-ID
	listMax    = 100     // addresses in a field
	filesMax   = 20      // attachments whose names are searched
	chunkMails = 200     // mails in one statement or transaction
	entriesMax = 200_000 // the newest mails, which are listed and searched

	// textTotal bounds the octets of all texts in the index. Beyond it only the header fields of the oldest mails are
	// searched, and beyond it still, none of their texts.
	textTotal = 128 << 20
)

// Draft is a mail that is encoded for storing. It is created outside of the transaction, since encoding takes time.
type Draft struct {
	Tags []string // sorted; nil: none
	size int64
	json string // a storedMail
}

// NewDraft encodes a mail for the sink. recipients are the forward-paths of the sink that it was sent to; those that
// neither To nor Cc contains are shown as Bcc. username is what the client signed in as; "": it did not. The Draft does not
// refer to c. An encoding error is returned, but does not occur in practice.
func NewDraft(c *message.Content, recipients []string, username string) (*Draft, error) {
	m := storedMail{Summary: Summary{
		MessageID: truncate.Octets(c.MessageID, fieldMax), From: truncateAddress(c.From), To: truncateAddresses(c.To), CC: truncateAddresses(c.CC), ReplyTo: truncateAddresses(c.ReplyTo),
		Subject: truncate.Octets(c.Subject, fieldMax), Snippet: truncate.Runes(search.CollapseSpace(c.Text, 4*snippetMax), snippetMax),
	}}
	inHeader := make(map[string]bool, len(c.To)+len(c.CC))
	for _, a := range c.To {
		inHeader[strings.ToLower(a.Address)] = true
	}
	for _, a := range c.CC {
		inHeader[strings.ToLower(a.Address)] = true
	}
	m.Sender, m.Username = truncate.Octets(c.EnvelopeFrom, fieldMax), truncate.Octets(username, fieldMax)
	for _, r := range recipients[:min(len(recipients), listMax)] {
		m.Recipients = append(m.Recipients, truncate.Octets(r, fieldMax))
		if !inHeader[strings.ToLower(r)] {
			m.BCC = append(m.BCC, message.Address{Address: truncate.Octets(r, fieldMax)})
		}
	}
	var names strings.Builder
	for i, f := range c.Files {
		if f.Inline {
			m.Inline++
		} else {
			m.Attachments++
		}
		if i < filesMax {
			names.WriteString(" " + truncate.Octets(f.Filename, fieldMax/4))
		}
	}
	m.Text = search.CollapseSpace(c.Text, search.TextMax) + names.String()
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode a mail of the sink: %w", err)
	}
	return &Draft{Tags: tagsOf(c, m.BCC), size: c.Size, json: string(text)}, nil
}

// truncateAddress returns an address with name and address cut to fieldMax octets each.
func truncateAddress(a message.Address) message.Address {
	return message.Address{Name: truncate.Octets(a.Name, fieldMax), Address: truncate.Octets(a.Address, fieldMax)}
}

// truncateAddresses returns the first listMax addresses, each cut like truncateAddress.
func truncateAddresses(addresses []message.Address) (out []message.Address) {
	for _, a := range addresses[:min(len(addresses), listMax)] {
		out = append(out, truncateAddress(a))
	}
	return out
}

// Messages deletes messages. Package message implements it.
type Messages interface {
	// DeleteManyTx deletes messages in the caller's transaction. A trigger of the database marks a mail as deleted with
	// the last of its messages.
	DeleteManyTx(ctx context.Context, tx *db.Tx, refs []message.Ref) error
	// TagManyTx gives messages other tags in the caller's transaction.
	TagManyTx(ctx context.Context, tx *db.Tx, refs []message.Ref, tags []string) error
}

// Service lists, searches, marks and deletes the mail of the sink. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	messages  Messages
	index     index   // of all mail
	indexes   indexes // of projects
	lastSweep sweepState

	// searchSlots has a token for each running search. There are two at most, since each search uses all processors.
	searchSlots chan struct{}
}

// New returns a Service. KeepUp should run as long as the Service is used, and Sweep should be called periodically.
func New(d *db.DB, c clock.Clock, messages Messages) *Service {
	return &Service{db: d, clock: c, messages: messages, index: index{textMax: textTotal}, searchSlots: make(chan struct{}, 2)}
}

// Arrival is a mail to store together with its messages.
type Arrival struct {
	*Draft
	ID      id.SinkMail
	Project id.Project // that got it; "": the sink
	At      time.Time
	Copies  []message.Ref // its messages, one for each recipient; the mail is deleted with the last of them
}

// InsertTx stores mails in the transaction of their messages. They get consecutive numbers in the order of arrivals. The
// row of sink_state stays locked until the commit, so other transactions that change the sink wait.
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
		if err := mails.add(a, last-int64(len(arrivals)-1-i)); err != nil {
			return fmt.Errorf("encode the tags of %s: %w", a.ID, err)
		}
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
