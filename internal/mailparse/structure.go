package mailparse

import (
	"strings"

	"github.com/gonebox/gonebox/internal/truncate"
)

// Part is a mail, a body part of a multipart, or the message that a part of the type message/rfc822 is (RFC 2045 §2.4). Every
// string in it is valid UTF-8 without NUL and has at most [MaxFilename] octets.
type Part struct {
	ContentType string // in lower case; what RFC 2045 §5.2 or RFC 2046 §5.1.5 assume where none is declared
	Charset     string // as declared, in lower case
	Disposition string // in lower case
	Filename    string // as that of an [Attachment], but empty where the sender gave none
	ContentID   string // without angle brackets
	Encoding    string // the transfer encoding, in lower case
	Size        int    // octets of the decoded content
	Parts       []Part

	body     []byte // not decoded
	encoding string // of body
}

// Structure reads the tree of the parts of a mail, as the sender has put it together: at most [MaxParts], nested [MaxDepth] deep. Of
// multiparts and messages that are encoded, which RFC 2045 §6.4 forbids, no more is decoded than the mail has octets. So it takes twice
// the memory of the mail at most. The result refers to raw.
func Structure(raw []byte) Part {
	raw = unifyLineEnds(raw)
	b := treeBuilder{parser: parser{message: new(Message), budget: len(raw)}}
	return b.part(messageEntity(raw), 0)
}

// treeBuilder builds the tree of the parts of one mail.
type treeBuilder struct {
	parser
	scratch []byte // the content of the part that was decoded last
}

// messageEntity reads what the header of a message says about its body.
func messageEntity(raw []byte) *entity {
	var fixed [48]span
	spans, body := splitHeader(raw, fixed[:0], wellKnownField)
	e := &entity{body: body}
	e.describeAll(raw, spans)
	return e
}

// part reads the tree of an entity.
func (b *treeBuilder) part(e *entity, depth int) Part {
	b.parts++
	if depth == 0 {
		b.charset = e.params.token("charset")
	}
	p := Part{
		ContentType: short(e.media), Charset: short(strings.ToLower(e.params.token("charset"))), Disposition: short(e.disposition),
		ContentID: short(e.id), Encoding: short(e.encoding), body: e.body, encoding: e.encoding,
	}
	if p.ContentType == "" {
		p.ContentType = "text/plain"
	}
	if name := e.filename(b.charset); name != "" {
		p.Filename = attachmentName(name, p.ContentType)
	}
	data := p.Data(b.scratch)
	p.Size = len(data)
	if isEncoded(p.encoding) {
		b.scratch = data
	}
	if depth < MaxDepth {
		p.Parts = b.children(e, depth+1)
	}
	return p
}

// children reads the trees of the parts of a multipart, or of the message in a part that is one.
func (b *treeBuilder) children(e *entity, depth int) (all []Part) {
	switch {
	case strings.HasPrefix(e.media, "multipart/"):
		parts, ok := b.split(e)
		for ok && b.parts < MaxParts {
			var raw []byte
			if raw, ok = parts.next(); ok {
				all = append(all, b.part(partOf(e, raw), depth))
			}
		}
	case e.media == "message/rfc822", e.media == "message/global":
		if b.parts < MaxParts {
			all = append(all, b.part(messageEntity(unifyLineEnds(b.decode(e))), depth))
		}
	}
	return all
}

// Data returns the decoded content of a part: in the memory of room if that is large enough, and in that of the mail if it was sent
// without an encoding.
func (p *Part) Data(room []byte) []byte {
	switch p.encoding {
	case "base64":
		return decodeBase64(room, p.body)
	case "quoted-printable":
		return decodeQuotedPrintable(room, p.body)
	}
	return p.body
}

// SafeFilename returns Filename, or a name made from the content type where the sender gave none.
func (p *Part) SafeFilename() string { return attachmentName(p.Filename, p.ContentType) }

// short returns s as a text of one line with at most MaxFilename octets.
func short(s string) string { return truncate.Octets(printable(s), MaxFilename) }
