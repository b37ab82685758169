package message

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/resource"
)

// Content is what is stored of a mail, the same for all of its recipients.
type Content struct {
	From           Address
	To, CC         []Address
	ReplyTo        []Address
	Subject        string
	SentAt         time.Time // zero: the mail does not say
	MessageID      string
	Headers        []Header
	Text           string
	Derived        bool     // the text is that of the HTML
	Preview        string   // what a preview is taken from; "": the text
	Refused        []string // links that cancel or report
	HTML           string   // as the sender wrote it
	Files          []File
	Authentication Authentication
	EnvelopeFrom   string
	Helo           string
	RemoteIP       string
	TLS            bool
	Source         string // how it came in; "": by SMTP
	Size           int64
	OTP            *OTP // without message, sender and subject
	Action         *Action
	Raw            []byte // the raw message as package raw encodes it, to be stored with the rows; nil: it is stored elsewhere
}

// File is an attachment with its content, which is stored only if it is available.
type File struct {
	Attachment
	Part string // its position in the tree of parts, such as 2.1
	Data []byte
}

// Draft is a mail that is encoded for storing, so that the transaction is short.
type Draft struct {
	summary  Summary // without what a Delivery has
	internal internal
	size     int64
	body     cell
	files    []file
	blobs    []blob.Blob    // stored together with the rows
	pending  []blob.Content // to be stored before the rows, by Stage
	staged   []blob.Staged  // stored by Stage
}

// internal is what is stored of a message beside its summary and not shown in a list. It is one column, as JSON.
type internal struct {
	EnvelopeTo []string  `json:"envelopeTo"`          // of this mailbox only: other recipients are not disclosed
	MessageID  string    `json:"messageId,omitempty"` // the Message-ID header without angle brackets, cut
	NoTo       bool      `json:"noTo,omitempty"`      // the header names no recipient, so that the envelope's are shown
	HasLinks   bool      `json:"hasLinks,omitempty"`  // whether the message in full has any
	Client     string    `json:"client,omitempty"`    // Delivery.Client
	HasBest    bool      `json:"hasBest,omitempty"`   // whether it has one to follow
	CC         []Address `json:"cc,omitempty"`        // the addresses of the Cc field, cut like those of To
}

// encode returns a value as JSON, as responses of the API contain it.
func encode(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // no response is part of a page
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("encode a message: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// NewDraft encodes a mail that is stored as a number of copies, one for each mailbox. It appends to buf and returns the extended slice,
// which the Draft aliases. A large Draft (Draft.Large) also aliases the data of the files until it is staged.
func (s *Service) NewDraft(buf []byte, c Content, copies int) (*Draft, []byte) {
	whole := Summary{
		From: c.From, To: list(c.To), Subject: c.Subject, Preview: preview(cmp.Or(c.Preview, c.Text), s.policy.PreviewLength), SentAt: clock.Optional(c.SentAt),
		Size: c.Size, HasAttachments: hasAttachments(c.HTML, c.Files, s.policy.InlineImageMax), OTP: c.OTP, Source: cmp.Or(c.Source, SourceSMTP),
		Verified: c.Authentication.Verified, Action: c.Action,
	}
	more := detail{Text: c.Text, HTML: c.HTML, Derived: c.Derived, Detail: resource.Detail{
		CC: c.CC, ReplyTo: c.ReplyTo, MessageID: c.MessageID, Headers: c.Headers, Authentication: c.Authentication,
		Envelope: Envelope{From: c.EnvelopeFrom, Helo: c.Helo, RemoteIP: c.RemoteIP, TLS: c.TLS}, RawExpiresAt: clock.Micro(0),
	}}
	hasLinks, best := follow(&more, c.Action, c.Refused)
	more.Best = best
	d := &Draft{size: c.Size, summary: cut(whole), internal: internal{
		MessageID: cutText(c.MessageID), HasLinks: hasLinks, HasBest: best != nil, NoTo: len(c.To) == 0, CC: cutAddresses(c.CC),
	}}
	if d.summary.Subject != whole.Subject || d.summary.From != whole.From || !slices.Equal(d.summary.To, whole.To) {
		more.Uncut = &uncut{Subject: whole.Subject, From: whole.From, To: whole.To}
	}
	for _, f := range c.Files {
		more.Attachments = append(more.Attachments, f.Attachment)
	}
	more.Parts = partsOf(c.Files)
	buf = d.pack(buf, &more, c.Files, copies)
	if c.Raw != nil {
		buf = d.packRaw(buf, c.Raw)
	}
	return d, buf
}

// Delivery describes one recipient's copy of a draft.
type Delivery struct {
	Box        id.Mailbox
	Message    id.Message
	ReceivedAt time.Time
	To         []string // the forward-paths that led there
	Raw        raw.Ref
	RawUntil   time.Time
	OTP        *OTP   // code for this recipient alone; nil: the draft's
	Client     string // whom the space of the message counts for when Trim decides what to keep; "": for no client
	Tags       []string
}

// Copy is a draft with one of its deliveries.
type Copy struct {
	*Draft
	Delivery
}

// Stored reports whether a message exists.
func (s *Service) Stored(ctx context.Context, q db.Queryer, box id.Mailbox, m id.Message) (bool, error) {
	var n int
	err := q.QueryRow(ctx, selectStored, box, m).Scan(&n)
	return n > 0, err
}

// preview returns the visible beginning of a text, at most max characters, with its white space folded.
func preview(text string, max int) string {
	b := make([]byte, 0, 256) // enough for most previews
	n, space := 0, false
	for _, r := range text {
		shown, blank := look(r)
		switch {
		case blank:
			space = n > 0
			continue
		case !shown:
			continue
		}
		if space {
			if n+1 >= max {
				break
			}
			b = append(b, ' ')
			n, space = n+1, false
		}
		if n >= max {
			break
		}
		b = utf8.AppendRune(b, r)
		n++
	}
	return string(b)
}

// look reports whether a character is shown, or is blank. Joiners and other invisible characters, with which senders pad their preheaders,
// are neither.
func look(r rune) (shown, blank bool) {
	shown = ' ' < r && r < 0x7f // the rest is in lookUp, so that the compiler inlines look
	if !shown {
		shown, blank = lookUp(r)
	}
	return shown, blank
}

// lookUp is look for characters that are not printable ASCII.
func lookUp(r rune) (shown, blank bool) {
	switch {
	case r < utf8.RuneSelf:
		return false, true
	case unicode.Is(unicode.Cf, r):
		return false, false
	}
	blank = unicode.IsSpace(r) || !unicode.IsPrint(r)
	return !blank, blank
}
