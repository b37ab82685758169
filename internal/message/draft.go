package message

import (
	"context"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/raw"
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

// File is an attachment with its bytes, which are kept where it is available.
type File struct {
	Attachment
	Data []byte
}

// Draft is a mail ready to be stored: everything that costs time has been done, so that the transaction is short.
type Draft struct {
	summary stored
	size    int64
	body    cell
	files   []file
	blobs   []blob.Blob    // that are stored with the rows
	pending []blob.Content // that are stored before, by Stage
	staged  []blob.Staged  // those that were
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

// NewDraft prepares a mail for storing as so many copies, one for each mailbox. It appends to buf and returns the extended slice, which
// the draft aliases. Where the draft is large (see Draft.Large) it aliases the data of the files, too, until it is staged.
func (s *Service) NewDraft(buf []byte, c Content, copies int) (*Draft, []byte) {
	whole := stored{From: c.From, To: c.To, Subject: c.Subject, Preview: preview(c.Text, s.policy.PreviewLength), HasAttachments: len(c.Files) > 0}
	d := &Draft{size: c.Size, summary: whole.cut()}
	if !c.SentAt.IsZero() {
		d.summary.SentAt = c.SentAt.UnixMicro()
	}
	d.summary.OTP = storedCode(c.OTP)
	more := detail{
		CC: c.CC, ReplyTo: c.ReplyTo, MessageID: c.MessageID, Headers: c.Headers, Text: c.Text, HTML: c.HTML,
		Authentication: c.Authentication, EnvelopeFrom: c.EnvelopeFrom, Helo: c.Helo, RemoteIP: c.RemoteIP, TLS: c.TLS,
	}
	if d.summary.Subject != whole.Subject || d.summary.From != whole.From || !slices.Equal(d.summary.To, whole.To) {
		more.Uncut = &uncut{Subject: whole.Subject, From: whole.From, To: whole.To}
	}
	for _, f := range c.Files {
		more.Attachments = append(more.Attachments, f.Attachment)
	}
	return d, d.pack(buf, &more, c.Files, copies)
}

// storedCode is the part of a code that is kept; the rest follows from the message.
func storedCode(o *OTP) *storedOTP {
	if o == nil {
		return nil
	}
	return &storedOTP{o.Code, o.Display, o.Confidence, o.Source, o.FilterID, o.Kind, o.Links}
}

// Delivery is where one recipient's copy of a draft goes.
type Delivery struct {
	Box        id.Mailbox
	Message    id.Message
	ReceivedAt time.Time
	To         []string // the forward-paths that led there
	Raw        raw.Ref
	RawUntil   time.Time
	OTP        *OTP // the recipient's own code instead of the draft's; nil: the draft's
}

// Copy is a draft for one of its places.
type Copy struct {
	*Draft
	Delivery
}

// Stored tells whether a message is there.
func (s *Service) Stored(ctx context.Context, q db.Queryer, box id.Mailbox, m id.Message) (bool, error) {
	var n int
	err := q.QueryRow(ctx, selectStored, box, m).Scan(&n)
	return n > 0, err
}

// preview is the beginning of a text as it is seen, with its white space folded, at most max characters.
func preview(text string, max int) string {
	b := make([]byte, 0, 256) // as much as the most that is asked for takes, mostly
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

// look tells whether a character is seen, or parts what is seen. Joiners and other invisible ones, with which senders
// pad their preheaders, do neither.
func look(r rune) (shown, blank bool) {
	shown = ' ' < r && r < 0x7f // as most are; the rest is apart so that they cost no call
	if !shown {
		shown, blank = lookUp(r)
	}
	return shown, blank
}

// lookUp is look for what is not plain ASCII.
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
