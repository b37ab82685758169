package message

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/original"
)

// Content is what is kept of one mail, whoever its recipients are.
type Content struct {
	From           Address
	To, CC         []Address
	ReplyTo        []Address
	Subject        string
	SentAt         time.Time // zero: not said
	MessageID      string
	Headers        []Header
	Text           string
	HTML           string // as the sender wrote it
	Files          []File
	Authentication Authentication
	EnvelopeFrom   string
	Helo           string
	RemoteIP       string
	TLS            bool
	Size           int64
	OTP            *OTP // without message, sender and subject
}

// File is an attachment with its bytes; none are kept where Data is nil.
type File struct {
	Attachment
	Data []byte
}

// Draft is a mail ready to be stored: everything that costs time has been done, so that the transaction is short.
type Draft struct {
	summary stored
	size    int64
	detail  []byte
	files   []blob
}

type blob struct {
	id   id.Attachment
	data []byte
}

// stored is the part of a Summary that is kept as JSON; the rest are columns.
type stored struct {
	From           Address    `json:"from"`
	To             []Address  `json:"to"`
	Subject        string     `json:"subject"`
	Preview        string     `json:"preview"`
	SentAt         int64      `json:"sentAt,omitempty"` // microseconds; 0: not said
	HasAttachments bool       `json:"hasAttachments,omitempty"`
	OTP            *storedOTP `json:"otp,omitempty"`
	EnvelopeTo     []string   `json:"envelopeTo"` // of this mailbox: nobody learns of the other recipients
}

type storedOTP struct {
	Code       string   `json:"code"`
	Display    string   `json:"display"`
	Confidence float64  `json:"confidence"`
	Source     string   `json:"source"`
	FilterID   *string  `json:"filterId,omitempty"`
	Kind       string   `json:"kind"`
	Links      []string `json:"links,omitempty"`
}

// NewDraft prepares a mail for storing.
func (s *Service) NewDraft(c Content) (*Draft, error) {
	d := &Draft{size: c.Size, summary: stored{
		From: c.From, To: c.To, Subject: c.Subject, Preview: preview(c.Text, s.policy.PreviewLength), HasAttachments: len(c.Files) > 0,
	}}
	if !c.SentAt.IsZero() {
		d.summary.SentAt = c.SentAt.UnixMicro()
	}
	d.summary.OTP = storedCode(c.OTP)
	more := detail{
		CC: c.CC, ReplyTo: c.ReplyTo, MessageID: c.MessageID, Headers: c.Headers, Text: c.Text, HTML: c.HTML,
		Authentication: c.Authentication, EnvelopeFrom: c.EnvelopeFrom, Helo: c.Helo, RemoteIP: c.RemoteIP, TLS: c.TLS,
	}
	for _, f := range c.Files {
		more.Attachments = append(more.Attachments, f.Attachment)
		if f.Available {
			d.files = append(d.files, blob{f.ID, original.Compress(nil, f.Data)})
		}
	}
	var err error
	if d.detail, err = more.pack(); err != nil {
		return nil, fmt.Errorf("encode the message: %w", err)
	}
	return d, nil
}

// storedCode is the part of a code that is kept; the rest follows from the message.
func storedCode(o *OTP) *storedOTP {
	if o == nil {
		return nil
	}
	return &storedOTP{o.Code, o.Display, o.Confidence, o.Source, o.FilterID, o.Kind, o.Links}
}

// Place is where one recipient's copy of a draft goes.
type Place struct {
	Box        id.Mailbox
	Message    id.Message
	ReceivedAt time.Time
	To         []string // the forward-paths that led there
	Raw        original.Ref
	RawUntil   time.Time
	OTP        *OTP // the recipient's own code instead of the draft's; nil: the draft's
}

// InsertTx stores a draft in one mailbox.
func (s *Service) InsertTx(ctx context.Context, tx *db.Tx, d *Draft, p Place) error {
	summary := d.summary
	summary.EnvelopeTo = p.To
	if p.OTP != nil {
		summary.OTP = storedCode(p.OTP)
	}
	text, err := json.Marshal(summary)
	if err != nil {
		return fmt.Errorf("encode the summary: %w", err)
	}
	_, err = tx.Exec(ctx, insertMessage, p.Box, p.Message, p.ReceivedAt.UnixMicro(), d.size, summary.OTP != nil,
		string(p.Raw), p.RawUntil.UnixMicro(), string(text), d.detail)
	if err != nil {
		return err
	}
	for _, f := range d.files {
		if _, err := tx.Exec(ctx, insertAttachment, p.Box, p.Message, f.id, f.data); err != nil {
			return err
		}
	}
	return nil
}

// preview is the beginning of a text as it is seen, with its white space folded, at most max characters.
func preview(text string, max int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		if unicode.Is(unicode.Cf, r) {
			continue // joiners and other invisible ones, with which senders pad their preheaders
		}
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			space = n > 0
			continue
		}
		if space {
			if n+1 >= max {
				break
			}
			b.WriteByte(' ')
			n, space = n+1, false
		}
		if n >= max {
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
