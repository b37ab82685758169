// Package mailparse parses one mail into a Message: header fields, addresses, text, HTML and attachments of what real
// senders send, however broken (docs/decisions/0041).
//
// Parse never returns an error and never panics: what it cannot understand it keeps, as text or as an attachment. The
// bounds in limits.go hold for every mail; what is beyond them is left out. Time and memory are linear in the mail's
// size. Functions of this package may be called from several goroutines.
//
// It does no I/O, verifies no signature, decrypts nothing, unpacks no archive or TNEF, and makes no HTML safe: package
// sanitize does. The header of a message is parsed in header.go, the tree of its parts in walk.go and boundary.go,
// their encodings in transfer.go and charset.go, encoded words in word.go, addresses in address.go.
package mailparse

import (
	"bytes"
	"strings"
	"time"
)

// Message is one parsed mail. Every string in it is valid UTF-8 without NUL.
type Message struct {
	// Header holds all header fields in order, values unfolded and encoded words decoded,
	// up to [MaxHeader] bytes and [MaxFields] fields.
	Header []Field
	// From is the first mailbox of the first From field. Where that field is missing or holds no mailbox
	// it is the Sender, and where that is missing too it is zero. See [Message.Value] for repeated fields.
	From Address
	// Author is the address of From where the mail has exactly one From field, which names exactly one mailbox by a
	// valid address; otherwise empty. Only such a mail has an author whose domain can be authenticated (RFC 7489 §6.6.1).
	Author string
	// To, Cc and ReplyTo hold the mailboxes of all fields of that name, groups flattened,
	// [MaxAddresses] each at most.
	To, Cc, ReplyTo []Address
	// Subject is the first Subject field, white space around it removed.
	Subject string
	// MessageID is the Message-ID without its angle brackets.
	MessageID string
	// Date is the Date field in UTC; zero when it is absent or unreadable.
	Date time.Time
	// Text is the text/plain bodies, joined, with LF line ends and format=flowed unfolded (RFC 3676).
	Text string
	// HTML is the text/html bodies, joined, as the sender wrote them: it is not safe to show.
	HTML string
	// Attachments holds every other part, in order.
	Attachments []Attachment
}

// Field is one header field. Name is spelled as the sender spelled it.
type Field struct{ Name, Value string }

// Address is a mailbox (RFC 5322 §3.4). Addr is empty where the sender gave a name without an address.
type Address struct{ Name, Addr string }

// Attachment is a part that is not the mail's own text.
type Attachment struct {
	// Filename is never empty, holds no directory and no control characters, and is at most [MaxFilename] bytes.
	// Where the sender gave none it is made from the content type.
	Filename string
	// ContentType is the declared media type in lower case without parameters;
	// application/octet-stream where none was declared.
	ContentType string
	// ContentID is the Content-ID without angle brackets: what a cid: URL names.
	ContentID string
	// Inline reports that the part is meant to be shown within the text: its Content-Disposition is inline, or it has
	// a Content-ID and no Content-Disposition.
	Inline bool
	// Part is the position of the part in the tree of parts: "2.1" is the first part of the second part of the message, and
	// "0" is the body of a message without parts. Those of a message within one have the position of that in front.
	Part string
	// Data is the decoded content. It aliases the bytes given to Parse if the part was sent without a transfer
	// encoding (7bit, 8bit, binary), so those must not change while Data is in use; likewise the buffer of ParseIn.
	Data []byte
}

// Parse reads one message. It never fails. All limits are in limits.go; what is beyond them is left out.
//
// Attachments may alias raw, see [Attachment]; nothing else does.
func Parse(raw []byte) *Message { return ParseIn(nil, raw) }

// ParseIn is Parse with a buffer to decode attachments in, which the caller may use again when the Message is no
// longer needed. What does not fit is decoded elsewhere; a buffer as large as raw is usually enough. room may be nil.
func ParseIn(room, raw []byte) *Message {
	p := parser{message: new(Message), budget: MaxDecoded, room: room}
	p.parse(unifyLineEnds(raw), 0)
	return p.message
}

// Value returns the value of the first field of that name, compared without case; "" when there is none.
//
// The first wins, for From and Subject too: it is the one mail programs show, so what filters, the code extractor and
// people see is the same. (RFC 5322 §3.6 allows one; a checker of DMARC must refuse several From fields by itself, RFC
// 7489 §6.6.1.)
func (m *Message) Value(name string) string {
	for i := range m.Header {
		if strings.EqualFold(m.Header[i].Name, name) {
			return m.Header[i].Value
		}
	}
	return ""
}

// unifyLineEnds makes the line ends of a mail that was written with CR alone readable: LF for each.
func unifyLineEnds(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	return bytes.ReplaceAll(raw, []byte{'\r'}, []byte{'\n'})
}
