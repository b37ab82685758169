// Package search parses searches in Mailpit's language and matches mails with them (docs/spec/mailpit.md#search). It keeps
// no mails: packages sink and allmail do, each in an index of Documents.
package search

import (
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/resource"
	"github.com/gonebox/gonebox/internal/truncate"
)

// TextMax is how much of a message's text is searched, in octets.
const TextMax = 4 << 10

// Mail is what a Document is made of.
type Mail struct {
	ReceivedAt                time.Time
	Size                      int64
	Seen                      bool
	HasAttachments, HasInline bool
	MessageID, Sender         string // Sender is the reverse-path
	Subject, Text             string
	From                      resource.Address
	To, CC, BCC, ReplyTo      []resource.Address
	Tags                      []string
}

// Document is a mail in the form that is searched, with all texts in lower case.
type Document struct {
	ReceivedAt                      int64 // microseconds since 1970
	Size                            int64 // octets of the raw message
	Seen, HasAttachments, HasInline bool
	Tags                            []string // as they are shown; nil: none

	// searchText joins all texts of the mail, and the fields below are substrings of it that share its memory: searching
	// one string takes a fraction of the time of searching seven. DropText removes the message text from it. messageID is
	// not a part of it.
	searchText                                     string
	from, to, cc, bcc, replyTo, subject, messageID string

	sender string // of the envelope; "" where from has it, and not a part of searchText
}

// New returns the Document of a mail. It refers to the tags of m and to nothing else of it.
func New(m Mail) Document {
	d := Document{
		ReceivedAt: m.ReceivedAt.UnixMicro(), Size: m.Size, Seen: m.Seen,
		HasAttachments: m.HasAttachments, HasInline: m.HasInline, Tags: m.Tags, messageID: strings.ToLower(m.MessageID),
	}
	d.setTexts(strings.ToLower(m.Subject), addressText(m.From), addressText(m.To...), addressText(m.CC...), addressText(m.BCC...), addressText(m.ReplyTo...), strings.ToLower(m.Text))
	if sender := strings.ToLower(m.Sender); !strings.Contains(d.from, sender) {
		d.sender = sender
	}
	return d
}

// fields is the number of texts in searchText before the message text, each of which is followed by a line feed.
const fields = 6

// setTexts sets searchText to the texts, joined by line feeds, and each field to its part of searchText. A search term
// cannot match across two texts, since it does not contain the separator.
func (d *Document) setTexts(subject, from, to, cc, bcc, replyTo, text string) {
	parts := [fields + 1]string{subject, from, to, cc, bcc, replyTo, text}
	d.searchText = strings.Join(parts[:], "\n")
	at := 0
	for i, f := range []*string{&d.subject, &d.from, &d.to, &d.cc, &d.bcc, &d.replyTo} {
		*f = d.searchText[at : at+len(parts[i])]
		at += len(parts[i]) + 1
	}
}

// DropText removes the message text and returns the number of octets freed. The other texts are copied to a new string,
// so that the old one can be garbage collected.
func (d *Document) DropText() int {
	before := len(d.searchText)
	if before <= len(d.subject)+len(d.from)+len(d.to)+len(d.cc)+len(d.bcc)+len(d.replyTo)+fields {
		return 0
	}
	d.setTexts(d.subject, d.from, d.to, d.cc, d.bcc, d.replyTo, "")
	return before - len(d.searchText)
}

// DropFields removes all texts, so that only what is no text is searched, and returns the number of octets freed.
func (d *Document) DropFields() int {
	before := d.Octets()
	if before <= fields {
		return 0
	}
	d.Clear() // the tags too: a sender may give a mail many
	d.setTexts("", "", "", "", "", "", "")
	return before - d.Octets()
}

// Clear removes all texts and tags. A Document without texts matches no word.
func (d *Document) Clear() {
	d.searchText, d.subject, d.from, d.to, d.cc, d.bcc, d.replyTo, d.messageID, d.sender = "", "", "", "", "", "", "", "", ""
	d.Tags = nil
}

// tagOctets is what a tag takes beside its text.
const tagOctets = 32

// Octets returns how many octets the texts and tags have.
func (d *Document) Octets() int {
	n := len(d.searchText) + len(d.messageID)
	for _, t := range d.Tags {
		n += tagOctets + len(t)
	}
	return n
}

// addressText returns the text that a search in addresses looks at: a line for each address, with the name, and the
// address in angle brackets, all in lower case.
func addressText(addresses ...resource.Address) string {
	var b strings.Builder
	for _, a := range addresses {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if a.Name != "" {
			b.WriteString(a.Name + " ")
		}
		b.WriteString("<" + a.Address + ">")
	}
	return strings.ToLower(b.String())
}

// CollapseSpace returns the beginning of a text with each run of white space replaced by one space, at most max octets.
// It reads only the first 4*max octets, so that a large text costs no more than a small one.
func CollapseSpace(text string, max int) string {
	return truncate.Octets(strings.Join(strings.Fields(truncate.Octets(text, 4*max)), " "), max)
}
